//! The frame of a panel: margins, axes, ticks, grid, titles.

use super::{
    axis::{Mapping, Scale},
    colour::Colour,
    colourbar::ColourBar,
    error::ChartError,
    geometry::{Pixel, Rect},
    legend::{Layout, Legend},
    panel::Panel,
    svg::{Svg, number},
    text::{Anchor, CAP_HEIGHT, Text},
    ticks::Tick,
};

/// Text sizes in pixels.
pub(crate) const TITLE_SIZE: f64 = 16.0;
pub(crate) const LABEL_SIZE: f64 = 15.0;
pub(crate) const TICK_SIZE: f64 = 13.0;
pub(crate) const NOTE_SIZE: f64 = 13.0;

/// Length of a major tick, and its distance to the number.
pub(crate) const TICK_LENGTH: f64 = 5.0;
pub(crate) const TICK_GAP: f64 = 4.0;
/// Around the whole panel, and between numbers and axis labels.
const MARGIN: f64 = 10.0;
const LABEL_GAP: f64 = 8.0;
/// Between the plot and a legend or colour bar next to it.
pub(crate) const SIDE_GAP: f64 = 14.0;
/// Smallest width and height of the plot; a figure too small for its texts
/// overflows rather than turning inside out.
const SMALLEST: f64 = 20.0;

/// Where everything around the data goes.
#[derive(Debug)]
pub(crate) struct Frame<'a> {
    panel: &'a Panel,
    outer: Rect,
    pub(crate) plot: Rect,
    pub(crate) x: Mapping,
    pub(crate) y: Mapping,
    x_ticks: Vec<Tick>,
    y_ticks: Vec<Tick>,
    pub(crate) bar: Option<ColourBar<'a>>,
    /// The legend, and its place unless it goes between the data.
    pub(crate) legend: Option<(Layout<'a>, Option<(f64, f64)>)>,
}

impl<'a> Frame<'a> {
    /// Lays out a panel inside `outer`.
    pub(crate) fn new(panel: &'a Panel, outer: Rect) -> Result<Self, ChartError> {
        let [x_range, y_range] = panel.ranges()?;
        let legend = match panel.legend {
            Legend::Hidden => None,
            Legend::Below => Layout::new(panel, Some(outer.w - 2.0 * MARGIN)),
            Legend::Auto | Legend::Right => Layout::new(panel, None),
        };
        let beside = |side: Legend| legend.as_ref().filter(|_| panel.legend == side);

        // The heights do not depend on the numbers at the ticks, the widths
        // do: first the former, then the ticks of y, then the latter.
        let top = match &panel.title {
            Some(_) => MARGIN + 1.6 * TITLE_SIZE,
            None => MARGIN,
        };
        let below = beside(Legend::Below).map_or(0.0, |l| l.height + LABEL_GAP);
        let x_label = label_room(&panel.x.label);
        let numbers = TICK_LENGTH + TICK_GAP + TICK_SIZE;
        let bottom = numbers + x_label + below + MARGIN;
        let mut height = (outer.h - top - bottom).max(SMALLEST);

        let bar = panel.heat_map.as_ref().map(ColourBar::new).transpose()?;
        // The axes of a square are compared, so that both are marked alike.
        let y_ticks = panel.y.ticks(y_range, height, panel.square);
        let left = MARGIN + label_room(&panel.y.label) + widest(&y_ticks) + TICK_GAP + TICK_LENGTH;
        let beside_plot = bar.as_ref().map_or(0.0, |bar| bar.width(height)) + beside(Legend::Right).map_or(0.0, |l| SIDE_GAP + l.width);
        let mut width = outer.w - left - beside_plot - MARGIN;
        // The last number of x is centred below the right end of its axis.
        let x_ticks = panel.x.ticks(x_range, width, true);
        width -= (0.5 * widest(&x_ticks) - beside_plot - 2.0).max(0.0);
        width = width.max(SMALLEST);
        let (mut x, y) = ((outer.x + left).round(), (outer.y + top).round());
        if panel.square {
            let side = width.min(height);
            x += (0.5 * (width - side)).round();
            (width, height) = (side, side);
        }
        let plot = Rect::new(x, y, width.round(), height.round());

        let place = match panel.legend {
            Legend::Right => legend.as_ref().map(|l| (plot.right() + beside_plot - l.width, plot.y)),
            Legend::Below => legend.as_ref().map(|l| {
                let top = plot.bottom() + numbers + x_label + LABEL_GAP;
                (plot.middle().0 - 0.5 * l.width, top)
            }),
            Legend::Auto | Legend::Hidden => None,
        };
        let place = place.map(|(x, y)| {
            let room = outer.w - 2.0 * MARGIN - legend.as_ref().map_or(0.0, |l| l.width);
            let first = outer.x + MARGIN;
            (x.min(first + room).max(first), y)
        });
        Ok(Self {
            panel,
            outer,
            x: mapping(panel.x.scale, x_range, (plot.x, plot.right())),
            y: mapping(panel.y.scale, y_range, (plot.bottom(), plot.y)),
            x_ticks: panel.x.ticks(x_range, plot.w, true),
            y_ticks: panel.y.ticks(y_range, plot.h, panel.square),
            plot,
            bar,
            legend: legend.map(|l| (l, place)),
        })
    }

    /// The pixel of a point.
    pub(crate) fn pixel(&self, (x, y): (f64, f64)) -> Pixel {
        (self.x.pixel(x), self.y.pixel(y))
    }

    /// Draws the grid that goes under the data.
    pub(crate) fn draw_grid(&self, svg: &mut Svg) {
        let labelled = |ticks: &[Tick], map: &Mapping| -> Vec<f64> {
            let labelled = ticks.iter().filter(|t| t.label.is_some());
            labelled.map(|t| map.pixel(t.value)).collect()
        };
        let mut path = String::new();
        for x in labelled(&self.x_ticks, &self.x) {
            path += &format!("M{} {}v{}", number(x), number(self.plot.y), number(self.plot.h));
        }
        for y in labelled(&self.y_ticks, &self.y) {
            path += &format!("M{} {}h{}", number(self.plot.x), number(y), number(self.plot.w));
        }
        write_lines(svg, &path, Colour::GRID);
    }

    /// Draws the frame, the ticks with their numbers, the axis labels and the
    /// title.
    pub(crate) fn draw_axes(&self, svg: &mut Svg) {
        let plot = &self.plot;
        svg.tag("rect")
            .num("x", plot.x)
            .num("y", plot.y)
            .num("width", plot.w)
            .num("height", plot.h)
            .attr("fill", "none")
            .attr("stroke", &Colour::INK.to_string())
            .close();

        let mut path = String::new();
        let length = |tick: &Tick| {
            if tick.label.is_some() { TICK_LENGTH } else { 3.0 }
        };
        for tick in &self.x_ticks {
            let x = number(self.x.pixel(tick.value));
            path += &format!("M{x} {}v{}", number(plot.bottom()), length(tick));
        }
        for tick in &self.y_ticks {
            let y = number(self.y.pixel(tick.value));
            path += &format!("M{} {y}h-{}", number(plot.x), length(tick));
        }
        write_lines(svg, &path, Colour::INK);

        let away = TICK_LENGTH + TICK_GAP;
        let baseline = plot.bottom() + away + CAP_HEIGHT * TICK_SIZE + 1.0;
        for tick in &self.x_ticks {
            if let Some(label) = &tick.label {
                let x = self.x.pixel(tick.value);
                Text::new(label, TICK_SIZE).draw(svg, x, baseline, Anchor::Middle);
            }
        }
        for tick in &self.y_ticks {
            if let Some(label) = &tick.label {
                let y = self.y.pixel(tick.value) + 0.5 * CAP_HEIGHT * TICK_SIZE;
                Text::new(label, TICK_SIZE).draw(svg, plot.x - away, y, Anchor::End);
            }
        }

        let (cx, cy) = plot.middle();
        let x_label = Text::fitted(&self.panel.x.label, LABEL_SIZE, plot.w);
        if !x_label.markup.is_empty() {
            let y = plot.bottom() + away + TICK_SIZE + LABEL_GAP + CAP_HEIGHT * LABEL_SIZE;
            x_label.draw(svg, cx, y, Anchor::Middle);
        }
        let y_label = Text::fitted(&self.panel.y.label, LABEL_SIZE, plot.h);
        if !y_label.markup.is_empty() {
            let x = plot.x - away - widest(&self.y_ticks) - LABEL_GAP - 0.5 * LABEL_SIZE;
            y_label.draw_upwards(svg, x, cy);
        }
        if let Some(title) = &self.panel.title {
            let baseline = self.outer.y + MARGIN + 0.9 * TITLE_SIZE;
            let title = Text::fitted(title, TITLE_SIZE, self.outer.w - 2.0 * MARGIN);
            // Over the plot, unless it is so long that it would stick out.
            let half = 0.5 * title.width();
            let inner = self.outer.grown(-MARGIN);
            let x = cx.min(inner.right() - half).max(inner.x + half);
            title.draw(svg, x, baseline, Anchor::Middle);
        }
    }
}

fn mapping(scale: Scale, range: (f64, f64), pixels: (f64, f64)) -> Mapping {
    Mapping { scale, range, pixels }
}

fn label_room(label: &str) -> f64 {
    if label.is_empty() { 0.0 } else { LABEL_GAP + 1.1 * LABEL_SIZE }
}

/// Width of the widest number.
pub(crate) fn widest(ticks: &[Tick]) -> f64 {
    ticks.iter().filter_map(|t| t.label.as_deref()).map(|label| Text::new(label, TICK_SIZE).width()).fold(0.0, f64::max)
}

/// Writes thin lines; nothing for an empty path.
pub(crate) fn write_lines(svg: &mut Svg, path: &str, colour: Colour) {
    if !path.is_empty() {
        svg.tag("path").attr("d", path).attr("stroke", &colour.to_string()).attr("fill", "none").close();
    }
}
