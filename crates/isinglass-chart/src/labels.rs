//! Labels between the data: of callouts, regions and reference lines.

use super::{
    colour::Colour,
    frame::{Frame, NOTE_SIZE, write_lines},
    geometry::{Pixel, Rect},
    marks::{Callout, RefLine},
    placement::Placer,
    plot::MARKER_RADIUS,
    svg::{Svg, number},
    text::{Anchor, CAP_HEIGHT, Text},
};

/// Distance of a label from what it names.
const GAP: f64 = 5.0;

/// Writes a label into `place`, on white that the data shine through.
fn write(svg: &mut Svg, text: &Text<'_>, place: Rect, upwards: bool) {
    let paper = place.grown(2.0);
    svg.tag("rect")
        .num("x", paper.x)
        .num("y", paper.y)
        .num("width", paper.w)
        .num("height", paper.h)
        .attr("rx", "3")
        .attr("fill", "#fff")
        .attr("fill-opacity", "0.75")
        .close();
    let (x, y) = place.middle();
    if upwards {
        text.draw_upwards(svg, x, y);
    } else {
        let baseline = y + 0.5 * CAP_HEIGHT * text.size;
        text.draw(svg, x, baseline, Anchor::Middle);
    }
}

/// Labels a marked point, on the side with the most room.
pub(crate) fn label_callout(svg: &mut Svg, callout: &Callout, frame: &Frame<'_>, placer: &mut Placer) {
    let (x, y) = frame.pixel(callout.point);
    if !frame.plot.grown(0.01).contains((x, y)) {
        return;
    }
    let text = Text::new(&callout.label, NOTE_SIZE);
    let (w, h) = (text.width(), text.height());
    // As near as possible, but rather further away than on a line.
    let mut places = Vec::new();
    if !callout.marked {
        places.push((x - 0.5 * w, y - 0.5 * h));
    }
    for away in [0.0, 9.0, 20.0, 34.0] {
        let (near, far, up) = (GAP + 2.0 + away, GAP + 4.0 + away, 2.0 + 0.8 * away);
        places.extend([
            (x + near, y - h - up),
            (x - near - w, y - h - up),
            (x + near, y + up),
            (x - near - w, y + up),
            (x + far, y - 0.5 * h),
            (x - far - w, y - 0.5 * h),
            (x - 0.5 * w, y - h - far),
            (x - 0.5 * w, y + far),
        ]);
    }
    let places: Vec<_> = places.into_iter().map(|(x, y)| Rect::new(x, y, w, h)).collect();
    if let Some(place) = placer.place(&places) {
        if callout.marked {
            write_leader(svg, (x, y), place);
        }
        write(svg, &text, place, false);
    }
}

/// Writes a thin line from a marker to a label that is not right beside it.
fn write_leader(svg: &mut Svg, (x, y): Pixel, place: Rect) {
    let nearest = (x.clamp(place.x, place.right()), y.clamp(place.y, place.bottom()));
    let (dx, dy) = (nearest.0 - x, nearest.1 - y);
    let length = dx.hypot(dy);
    if length > 2.5 * MARKER_RADIUS {
        let clear = (MARKER_RADIUS + 1.0) / length;
        let path = format!("M{} {}L{} {}", number(x + clear * dx), number(y + clear * dy), number(nearest.0), number(nearest.1));
        write_lines(svg, &path, Colour::GREY);
    }
}

/// Labels a region in its middle; upwards if it is too narrow otherwise.
pub(crate) fn label_region(svg: &mut Svg, label: &str, region: Rect, placer: &mut Placer) {
    let text = Text::new(label, NOTE_SIZE);
    let (w, h) = (text.width(), text.height());
    let upwards = w + 2.0 * GAP > region.w && region.h > region.w;
    let (w, h) = if upwards { (h, w) } else { (w, h) };
    // The middle, or further along if that is taken.
    let (cx, cy) = region.middle();
    let places = [0.0, -0.25, 0.25, -0.4, 0.4].map(|t| {
        let (dx, dy) = if region.h > region.w { (0.0, t * (region.h - h)) } else { (t * (region.w - w), 0.0) };
        Rect::new(cx + dx - 0.5 * w, cy + dy - 0.5 * h, w, h)
    });
    if let Some(place) = placer.place(&places) {
        write(svg, &text, place, upwards);
    }
}

/// Labels a reference line at one of its ends, on either side.
pub(crate) fn label_ref_line(svg: &mut Svg, line: &RefLine, frame: &Frame<'_>, placer: &mut Placer) {
    let Some(label) = &line.label else { return };
    let area = &frame.plot;
    let text = Text { colour: line.colour, ..Text::new(label, NOTE_SIZE) };
    let (w, h) = (text.width(), text.height());
    let along = |t: f64, start: f64, room: f64| start + t * room;
    let mut places = Vec::new();
    if line.vertical {
        let x = frame.x.pixel(line.value);
        if !area.contains((x, area.y)) {
            return;
        }
        for t in [0.03, 0.97, 0.25, 0.5, 0.75] {
            let y = along(t, area.y, area.h - h);
            places.push(Rect::new(x - GAP - w, y, w, h));
            places.push(Rect::new(x + GAP, y, w, h));
        }
    } else {
        let y = frame.y.pixel(line.value);
        if !area.contains((area.x, y)) {
            return;
        }
        for t in [0.98, 0.02, 0.25, 0.5, 0.75] {
            let x = along(t, area.x, area.w - w);
            places.push(Rect::new(x, y - GAP - 0.85 * h, w, h));
            places.push(Rect::new(x, y + GAP - 0.15 * h, w, h));
        }
    }
    // Beside its own line only: a place cut off by the frame would be on it.
    places.retain(|p| p.moved_into(area) == *p);
    if let Some(place) = placer.place(&places) {
        write(svg, &text, place, false);
    }
}
