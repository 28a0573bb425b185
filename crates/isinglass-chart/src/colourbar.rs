//! The colour bar beside a heat map.

use super::{
    colour::{Colour, LEVELS},
    encode,
    error::ChartError,
    frame::{LABEL_SIZE, SIDE_GAP, TICK_GAP, TICK_LENGTH, TICK_SIZE, widest, write_lines},
    geometry::Rect,
    heatmap::{ColourScale, HeatMap, write_image},
    svg::{Svg, number},
    text::{Anchor, CAP_HEIGHT, Text},
    ticks::{self, Tick},
};

/// Width of the bar itself, and height of a triangular end.
const WIDTH: f64 = 18.0;
const TIP: f64 = 12.0;

/// A heat map's colour scale, drawn as a bar with numbers and a label.
#[derive(Debug)]
pub(crate) struct ColourBar<'a> {
    label: &'a str,
    pub(crate) scale: ColourScale,
}

impl<'a> ColourBar<'a> {
    pub(crate) fn new(map: &'a HeatMap) -> Result<Self, ChartError> {
        Ok(Self { label: &map.label, scale: map.colour_scale()? })
    }

    /// Width of bar, numbers and label, with the gap to the plot.
    pub(crate) fn width(&self, height: f64) -> f64 {
        let label = if self.label.is_empty() { 0.0 } else { TICK_GAP + 1.2 * LABEL_SIZE };
        SIDE_GAP + WIDTH + TICK_LENGTH + TICK_GAP + widest(&self.ticks(height)) + label
    }

    /// Numbers along the bar. A diverging bar is marked on either side and at
    /// its centre.
    fn ticks(&self, height: f64) -> Vec<Tick> {
        let ColourScale { scale, low, high, .. } = self.scale;
        let Some(centre) = self.scale.centre else {
            return ticks::fitting(scale, (low, high), height, TICK_SIZE, false);
        };
        let mut marks = ticks::fitting(scale, (low, centre), 0.5 * height, TICK_SIZE, false);
        marks.extend(ticks::fitting(scale, (centre, high), 0.5 * height, TICK_SIZE, false));
        let named = marks.iter().find(|t| t.label.is_some() && (t.value - centre).abs() <= 1e-9 * centre.abs());
        let label = match named {
            Some(Tick { label, .. }) => label.clone(),
            None => Some(format!("{centre}").replace('-', "−")),
        };
        // The centre comes before anything that would touch its number.
        marks.retain(|t| {
            let away = self.scale.fraction(t.value).map_or(0.0, |f| (f - 0.5).abs());
            away * height >= if t.label.is_some() { TICK_SIZE } else { 2.0 }
        });
        marks.push(Tick { value: centre, label });
        marks
    }

    /// Draws the bar beside `plot`.
    pub(crate) fn draw(&self, svg: &mut Svg, plot: &Rect) -> Result<(), ChartError> {
        let tip = |shown: bool| if shown { TIP } else { 0.0 };
        let (above, below) = (tip(self.scale.above), tip(self.scale.below));
        let (left, right) = (plot.right() + SIDE_GAP, plot.right() + SIDE_GAP + WIDTH);
        let (top, bottom) = (plot.y + above, plot.bottom() - below);
        let colours = self.scale.map.colours();

        let downwards: Vec<u8> = (0..LEVELS as u8).rev().collect();
        let png = encode::indexed(&colours, 1, LEVELS, &downwards)?;
        write_image(svg, &png, [left, top, WIDTH, bottom - top]);
        let point = number(0.5 * (left + right));
        let (left_, right_) = (number(left), number(right));
        let (top_, bottom_) = (number(top), number(bottom));
        let (peak, foot) = (number(plot.y), number(plot.bottom()));
        for (shown, base, apex, colour) in
            [(self.scale.above, &top_, &peak, colours[LEVELS - 1]), (self.scale.below, &bottom_, &foot, colours[0])]
        {
            if shown {
                svg.tag("path")
                    .attr("d", &format!("M{left_} {base}L{point} {apex}L{right_} {base}z"))
                    .attr("fill", &colour.to_string())
                    .close();
            }
        }
        let side = format!("M{left_} {bottom_}V{top_}");
        let over = if self.scale.above { format!("L{point} {peak}L{right_} {top_}") } else { format!("H{right_}") };
        let under = if self.scale.below { format!("V{bottom_}L{point} {foot}z") } else { format!("V{bottom_}z") };
        write_lines(svg, &(side + &over + &under), Colour::INK);

        let marks = self.ticks(bottom - top);
        let mut path = String::new();
        for tick in &marks {
            let Some(fraction) = self.scale.fraction(tick.value) else {
                continue;
            };
            let y = bottom - fraction * (bottom - top);
            let length = if tick.label.is_some() { TICK_LENGTH } else { 3.0 };
            path += &format!("M{right_} {}h{length}", number(y));
            if let Some(label) = &tick.label {
                let x = right + TICK_LENGTH + TICK_GAP;
                let baseline = y + 0.5 * CAP_HEIGHT * TICK_SIZE;
                Text::new(label, TICK_SIZE).draw(svg, x, baseline, Anchor::Start);
            }
        }
        write_lines(svg, &path, Colour::INK);
        if !self.label.is_empty() {
            let numbers = right + TICK_LENGTH + TICK_GAP + widest(&marks);
            let x = numbers + TICK_GAP + 0.7 * LABEL_SIZE;
            Text::fitted(self.label, LABEL_SIZE, plot.h).draw_upwards(svg, x, plot.middle().1);
        }
        Ok(())
    }
}
