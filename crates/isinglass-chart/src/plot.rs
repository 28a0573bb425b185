//! The data of a panel, and the labels between them.

use super::{
    axis::Mapping,
    colour::Colour,
    error::ChartError,
    frame::Frame,
    geometry::{Pixel, Rect, cut_polygon, visible_pieces},
    heatmap::{HeatMap, write_image},
    labels::{label_callout, label_ref_line, label_region},
    marks::{Band, Dash, Marker, RefLine, Region, Series},
    panel::{Layer, Panel},
    placement::Placer,
    svg::{Svg, number},
    thinning::thinned,
};

pub(crate) const BAND_OPACITY: f64 = 0.22;
pub(crate) const MARKER_RADIUS: f64 = 4.0;
/// Distance of labels and legend from the frame.
const INSET: f64 = 8.0;
/// How far beyond the frame lines are kept, so that their cut ends and caps
/// are out of sight.
const OVERHANG: f64 = 10.0;
/// Slanting lines: their name, distance, width and colour.
pub(crate) const HATCH: &str = "isinglass-hatch";
pub(crate) const HATCH_STEP: f32 = 8.0;
pub(crate) const HATCH_WIDTH: f32 = 0.8;
pub(crate) const HATCH_COLOUR: &str = "#999";

/// Draws a panel into `outer`.
pub(crate) fn draw(svg: &mut Svg, panel: &Panel, outer: Rect) -> Result<(), ChartError> {
    let frame = Frame::new(panel, outer)?;
    let area = &frame.plot;
    let mut placer = Placer::new(area.grown(-INSET));

    // Named after what it cuts to: the same name always means the same clip,
    // also when several charts are put into one page.
    let [x, y, w, h] = [area.x, area.y, area.w, area.h].map(number);
    let clip = format!("isinglass-clip-{x}-{y}-{w}-{h}");
    svg.tag("clipPath").attr("id", &clip).open();
    svg.tag("rect").attr("x", &x).attr("y", &y).attr("width", &w).attr("height", &h).close();
    svg.end("clipPath");

    if panel.heat_map.is_none() {
        frame.draw_grid(svg);
    }
    svg.tag("g").attr("clip-path", &format!("url(#{clip})")).open();
    draw_heat_map(svg, panel, &frame)?;
    let layers = panel.coloured();
    for (layer, colour) in &layers {
        if let Layer::Band(band) = layer {
            draw_band(svg, band, *colour, &frame, &mut placer);
        }
    }
    for region in &panel.regions {
        draw_region(svg, region, &frame);
    }
    if panel.diagonal {
        draw_diagonal(svg, &frame, &mut placer);
    }
    for line in &panel.ref_lines {
        draw_ref_line(svg, line, &frame, &mut placer);
    }
    for (layer, colour) in &layers {
        if let Layer::Series(series) = layer {
            draw_line(svg, series, *colour, &frame, &mut placer);
        }
    }
    svg.end("g");
    frame.draw_axes(svg);
    // Markers on the frame are shown whole.
    for (layer, colour) in &layers {
        if let Layer::Series(series) = layer {
            draw_markers(svg, series, *colour, &frame, &mut placer);
        }
    }
    for callout in &panel.callouts {
        let point = frame.pixel(callout.point);
        if callout.marked && area.grown(0.01).contains(point) {
            write_marker(svg, Marker::Circle, point, callout.colour);
            placer.add_marker(point, MARKER_RADIUS + 1.0);
        }
    }
    if let Some(bar) = &frame.bar {
        bar.draw(svg, area)?;
    }

    // The largest thing first, the ones with the least choice next.
    let legend = frame.legend.as_ref().and_then(|(legend, place)| {
        let corners = legend.corners(&area.grown(-INSET));
        let place = place.or_else(|| placer.place(&corners).map(|r| (r.x, r.y)))?;
        Some((legend, place))
    });
    for callout in &panel.callouts {
        label_callout(svg, callout, &frame, &mut placer);
    }
    for region in &panel.regions {
        if let (Some(label), Some(rect)) = (&region.label, region_rect(region, &frame)) {
            label_region(svg, label, rect, &mut placer);
        }
    }
    for line in &panel.ref_lines {
        label_ref_line(svg, line, &frame, &mut placer);
    }
    if let Some((legend, (x, y))) = legend {
        legend.draw(svg, x, y);
    }
    draw_hints(svg, panel, &frame, &clip)
}

/// Writes the hatch pattern that regions are filled with.
pub(crate) fn define_hatch(svg: &mut Svg) {
    svg.tag("pattern")
        .attr("id", HATCH)
        .num("width", HATCH_STEP.into())
        .num("height", HATCH_STEP.into())
        .attr("patternUnits", "userSpaceOnUse")
        .attr("patternTransform", "rotate(45)")
        .open();
    let line = format!("M{} 0v{HATCH_STEP}", 0.5 * HATCH_STEP);
    svg.tag("path").attr("d", &line).attr("stroke", HATCH_COLOUR).num("stroke-width", HATCH_WIDTH.into()).close();
    svg.end("pattern");
}

fn draw_heat_map(svg: &mut Svg, panel: &Panel, frame: &Frame<'_>) -> Result<(), ChartError> {
    let (Some(map), Some(bar)) = (&panel.heat_map, &frame.bar) else {
        return Ok(());
    };
    map.check_edges(panel.x.scale, panel.y.scale)?;
    let png = map.png(&bar.scale)?;
    write_image(svg, &png, map_place(map, frame));
    Ok(())
}

/// The rectangle of a heat map: left, top, width and height.
fn map_place(map: &HeatMap, frame: &Frame<'_>) -> [f64; 4] {
    let (left, bottom) = frame.pixel((map.x.0, map.y.0));
    let (right, top) = frame.pixel((map.x.1, map.y.1));
    [left, top, right - left, bottom - top]
}

/// Over everything else, so that lines and labels do not get between a cell and the pointer.
fn draw_hints(svg: &mut Svg, panel: &Panel, frame: &Frame<'_>, clip: &str) -> Result<(), ChartError> {
    let Some(map) = panel.heat_map.as_ref().filter(|map| map.has_hints()) else {
        return Ok(());
    };
    svg.tag("g").attr("clip-path", &format!("url(#{clip})")).attr("fill", "none").attr("pointer-events", "all").open();
    map.write_hints(svg, map_place(map, frame))?;
    svg.end("g");
    Ok(())
}

fn draw_band(svg: &mut Svg, band: &Band, colour: Colour, frame: &Frame<'_>, placer: &mut Placer) {
    let around = frame.plot.grown(OVERHANG);
    let edges: Vec<(Pixel, Pixel)> = band.points.iter().map(|&(x, low, high)| (frame.pixel((x, low)), frame.pixel((x, high)))).collect();
    let whole = |((x, low), (_, high)): &(Pixel, Pixel)| x.is_finite() && low.is_finite() && high.is_finite();
    let mut path = String::new();
    for piece in edges.split(|e| !whole(e)).filter(|p| p.len() > 1) {
        let lower: Vec<Pixel> = piece.iter().map(|e| e.0).collect();
        let upper: Vec<Pixel> = piece.iter().map(|e| e.1).collect();
        let mut polygon = thinned(&upper);
        polygon.extend(thinned(&lower).into_iter().rev());
        let polygon = cut_polygon(&polygon, &around);
        placer.add_line(&polygon);
        if !polygon.is_empty() {
            path += &path_data(&[polygon]);
            path.push('z');
        }
    }
    if !path.is_empty() {
        svg.tag("path").attr("d", &path).attr("fill", &colour.to_string()).num("fill-opacity", BAND_OPACITY).close();
    }
}

/// The part of a region inside the plot, if any.
fn region_rect(region: &Region, frame: &Frame<'_>) -> Option<Rect> {
    let side = |map: &Mapping, (a, b): (f64, f64)| {
        let (p, q) = (map.pixel_within(a), map.pixel_within(b));
        (p.min(q), (p - q).abs())
    };
    let (x, w) = side(&frame.x, region.x);
    let (y, h) = side(&frame.y, region.y);
    (w > 0.0 && h > 0.0).then(|| Rect::new(x, y, w, h))
}

fn draw_region(svg: &mut Svg, region: &Region, frame: &Frame<'_>) {
    let Some(rect) = region_rect(region, frame) else {
        return;
    };
    let hatch = format!("url(#{HATCH})");
    for (fill, opacity) in [("#bbb", 0.35), (hatch.as_str(), 0.7)] {
        svg.tag("rect")
            .num("x", rect.x)
            .num("y", rect.y)
            .num("width", rect.w)
            .num("height", rect.h)
            .attr("fill", fill)
            .num("fill-opacity", opacity)
            .close();
    }
}

fn draw_diagonal(svg: &mut Svg, frame: &Frame<'_>, placer: &mut Placer) {
    // Sampled, since it is a curve between axes of different scales.
    let (low, high) = frame.x.range;
    let scale = frame.x.scale;
    let (a, b) = (scale.coordinate(low), scale.coordinate(high));
    let points = (0..=400).map(|i| scale.value(a + (b - a) * f64::from(i) / 400.0)).map(|v| frame.pixel((v, v))).collect::<Vec<_>>();
    let pieces = drawable(&points, frame, placer);
    write_path(svg, &pieces, Colour::GREY, Dash::Dashed, 1.3);
}

fn draw_ref_line(svg: &mut Svg, line: &RefLine, frame: &Frame<'_>, placer: &mut Placer) {
    let area = &frame.plot;
    let ends = if line.vertical {
        let x = frame.x.pixel(line.value);
        [(x, area.y), (x, area.bottom())]
    } else {
        let y = frame.y.pixel(line.value);
        [(area.x, y), (area.right(), y)]
    };
    let pieces = drawable(&ends, frame, placer);
    write_path(svg, &pieces, line.colour, line.dash, 1.5);
}

fn draw_line(svg: &mut Svg, series: &Series, colour: Colour, frame: &Frame<'_>, placer: &mut Placer) {
    if series.line {
        let pixels: Vec<Pixel> = series.points.iter().map(|p| frame.pixel(*p)).collect();
        let pieces = drawable(&pixels, frame, placer);
        write_path(svg, &pieces, colour, series.dash, series.width);
    }
}

fn draw_markers(svg: &mut Svg, series: &Series, colour: Colour, frame: &Frame<'_>, placer: &mut Placer) {
    let Some(marker) = series.marker else { return };
    for &point in &series.points {
        let pixel = frame.pixel(point);
        // A hair wider than the frame: the extremes of the data lie on it.
        if frame.plot.grown(0.01).contains(pixel) {
            write_marker(svg, marker, pixel, colour);
            placer.add_line(&[pixel]);
        }
    }
}

/// The visible part of a line, thinned, which labels then avoid.
fn drawable(points: &[Pixel], frame: &Frame<'_>, placer: &mut Placer) -> Vec<Vec<Pixel>> {
    let pieces = visible_pieces(points, &frame.plot.grown(OVERHANG));
    let pieces: Vec<_> = pieces.iter().map(|piece| thinned(piece)).collect();
    for piece in &pieces {
        placer.add_line(piece);
    }
    pieces
}

fn path_data(pieces: &[Vec<Pixel>]) -> String {
    let mut path = String::new();
    for piece in pieces {
        for (i, (x, y)) in piece.iter().enumerate() {
            let command = if i == 0 { 'M' } else { 'L' };
            path += &format!("{command}{} {}", number(*x), number(*y));
        }
        if piece.len() == 1 {
            // A dot; some renderers leave out a segment without any length.
            path.push_str("h.01");
        }
    }
    path
}

/// Writes the pieces of a line; nothing if there are none.
pub(crate) fn write_path(svg: &mut Svg, pieces: &[Vec<Pixel>], colour: Colour, dash: Dash, width: f64) {
    if pieces.is_empty() {
        return;
    }
    // Round caps would close the gaps of a dashed line.
    let cap = if dash == Dash::Solid { "round" } else { "butt" };
    svg.tag("path")
        .attr("d", &path_data(pieces))
        .attr("fill", "none")
        .attr("stroke", &colour.to_string())
        .num("stroke-width", width)
        .attr("stroke-linejoin", "round")
        .attr("stroke-linecap", cap)
        .maybe("stroke-dasharray", dash.array(width).as_deref())
        .close();
}

/// Writes one marker, outlined in white to stand out from lines under it.
pub(crate) fn write_marker(svg: &mut Svg, marker: Marker, (x, y): Pixel, colour: Colour) {
    let r = MARKER_RADIUS;
    let at = |dx: f64, dy: f64| format!("{} {}", number(x + dx), number(y + dy));
    let colour = colour.to_string();
    if marker == Marker::Circle {
        return svg
            .tag("circle")
            .num("cx", x)
            .num("cy", y)
            .num("r", r)
            .attr("fill", &colour)
            .attr("stroke", "#fff")
            .attr("stroke-width", "0.8")
            .close();
    }
    // Scaled to look as large as the circle.
    let (s, d, t) = (0.9 * r, 1.25 * r, 1.2 * r);
    let (path, stroked) = match marker {
        Marker::Circle | Marker::Square => {
            let corners = [at(-s, -s), at(s, -s), at(s, s), at(-s, s)];
            (format!("M{}z", corners.join("L")), false)
        }
        Marker::Diamond => {
            let corners = [at(0.0, -d), at(d, 0.0), at(0.0, d), at(-d, 0.0)];
            (format!("M{}z", corners.join("L")), false)
        }
        Marker::Triangle => {
            let corners = [at(0.0, -t), at(t, 0.8 * t), at(-t, 0.8 * t)];
            (format!("M{}z", corners.join("L")), false)
        }
        Marker::Cross => {
            let (a, b) = ([at(-s, -s), at(s, s)], [at(s, -s), at(-s, s)]);
            (format!("M{}M{}", a.join("L"), b.join("L")), true)
        }
    };
    let (fill, stroke, width) = if stroked { ("none", colour.as_str(), "1.8") } else { (colour.as_str(), "#fff", "0.8") };
    svg.tag("path").attr("d", &path).attr("fill", fill).attr("stroke", stroke).attr("stroke-width", width).close();
}
