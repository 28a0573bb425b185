//! The legend: which entries, how large, and drawing them.

use super::{
    colour::Colour,
    frame::NOTE_SIZE,
    geometry::Rect,
    marks::Series,
    panel::{Layer, Panel},
    plot::{self, BAND_OPACITY},
    svg::Svg,
    text::{Anchor, CAP_HEIGHT, Text},
};

/// Where the legend of a panel goes. Only named series and bands are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Legend {
    /// Into the corner of the plot with the least data under it.
    #[default]
    Auto,
    /// To the right of the plot.
    Right,
    /// Below the plot.
    Below,
    /// Nowhere.
    Hidden,
}

const SIZE: f64 = NOTE_SIZE;
const ROW: f64 = 1.5 * SIZE;
/// Width of the sample of a line, and its distance to the name.
const SAMPLE: f64 = 30.0;
const GAP: f64 = 8.0;
/// Between the box and its content, and between columns.
const PADDING: f64 = 8.0;
const COLUMN_GAP: f64 = 22.0;

/// The entries of a legend in rows.
#[derive(Debug)]
pub(crate) struct Layout<'a> {
    rows: Vec<Vec<(&'a Layer, Colour, &'a str)>>,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl<'a> Layout<'a> {
    /// The legend of a panel, with as many entries in a row as `room` allows,
    /// or one in each without it. `None` if there is nothing to list.
    pub(crate) fn new(panel: &'a Panel, room: Option<f64>) -> Option<Self> {
        let mut rows: Vec<Vec<_>> = Vec::new();
        let (mut width, mut row_width) = (0.0_f64, f64::INFINITY);
        for (layer, colour) in panel.coloured() {
            let name = match layer {
                Layer::Band(band) => &band.name,
                Layer::Series(series) => &series.name,
            };
            let Some(name) = name else { continue };
            let entry = entry_width(name);
            let joined = row_width + COLUMN_GAP + entry;
            match rows.last_mut() {
                Some(row) if room.is_some_and(|room| joined + 2.0 * PADDING <= room) => {
                    row.push((layer, colour, name.as_str()));
                    row_width = joined;
                }
                _ => {
                    rows.push(vec![(layer, colour, name.as_str())]);
                    row_width = entry;
                }
            }
            width = width.max(row_width);
        }
        (!rows.is_empty()).then_some(Self { width: width + 2.0 * PADDING, height: rows.len() as f64 * ROW + PADDING, rows })
    }

    /// The corners of `area`, for a legend inside the plot.
    pub(crate) fn corners(&self, area: &Rect) -> [Rect; 4] {
        let (left, right) = (area.x, area.right() - self.width);
        let (top, bottom) = (area.y, area.bottom() - self.height);
        [(right, top), (left, top), (right, bottom), (left, bottom)].map(|(x, y)| Rect::new(x, y, self.width, self.height))
    }

    /// Draws the legend at `(x, y)`.
    pub(crate) fn draw(&self, svg: &mut Svg, x: f64, y: f64) {
        svg.tag("rect")
            .num("x", x)
            .num("y", y)
            .num("width", self.width)
            .num("height", self.height)
            .attr("rx", "3")
            .attr("fill", "#fff")
            .attr("fill-opacity", "0.85")
            .attr("stroke", "#ccc")
            .close();
        for (i, row) in self.rows.iter().enumerate() {
            let middle = y + 0.5 * PADDING + (i as f64 + 0.5) * ROW;
            let mut left = x + PADDING;
            for (layer, colour, name) in row {
                draw_sample(svg, layer, *colour, left, middle);
                let baseline = middle + 0.5 * CAP_HEIGHT * SIZE;
                Text::new(name, SIZE).draw(svg, left + SAMPLE + GAP, baseline, Anchor::Start);
                left += entry_width(name) + COLUMN_GAP;
            }
        }
    }
}

fn entry_width(name: &str) -> f64 {
    SAMPLE + GAP + Text::new(name, SIZE).width()
}

fn draw_sample(svg: &mut Svg, layer: &Layer, colour: Colour, left: f64, middle: f64) {
    match layer {
        Layer::Band(_) => svg
            .tag("rect")
            .num("x", left)
            .num("y", middle - 5.0)
            .num("width", SAMPLE)
            .num("height", 10.0)
            .attr("fill", &colour.to_string())
            .num("fill-opacity", BAND_OPACITY)
            .close(),
        Layer::Series(Series { line, dash, width, marker, .. }) => {
            if colour == Colour::WHITE {
                // Over a heat map it stands out; on the paper of a legend it needs ground of its own.
                svg.tag("rect")
                    .num("x", left)
                    .num("y", middle - 6.0)
                    .num("width", SAMPLE)
                    .num("height", 12.0)
                    .attr("fill", &Colour::GREY.to_string())
                    .close();
            }
            if *line {
                let ends = [(left, middle), (left + SAMPLE, middle)];
                plot::write_path(svg, &[ends.to_vec()], colour, *dash, *width);
            }
            if let Some(marker) = marker {
                plot::write_marker(svg, *marker, (left + 0.5 * SAMPLE, middle), colour);
            }
        }
    }
}
