//! Text: how wide it is and how it is written, with scripts as `tspan`s.

use super::{
    advances::advance,
    colour::Colour,
    markup::{self, Level, Run},
    svg::Svg,
};

/// The fonts asked for. Verdana has the proportions of DejaVu Sans, so that a
/// browser without the latter still draws what was measured here.
pub(crate) const FONT_FAMILY: &str = "DejaVu Sans, Verdana, Helvetica, Arial, sans-serif";

/// Size of a script relative to the text it belongs to.
const SCRIPT_SIZE: f64 = 0.7;
/// How far scripts move from the baseline, in units of the text size,
/// downwards positive.
const SUB_SHIFT: f64 = 0.24;
const SUPER_SHIFT: f64 = -0.44;
/// Space between a script and the text after it, in units of the text size.
const AFTER_SCRIPT: f64 = 0.06;

/// Height of capitals and digits of DejaVu Sans in units of the text size;
/// half of it is how far below its middle a line of text has its baseline.
pub(crate) const CAP_HEIGHT: f64 = 0.73;

/// Which point of the text stands at the given position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// One line of marked-up text.
#[derive(Clone, Debug)]
pub(crate) struct Text<'a> {
    pub(crate) markup: &'a str,
    pub(crate) size: f64,
    pub(crate) colour: Colour,
}

impl<'a> Text<'a> {
    pub(crate) fn new(markup: &'a str, size: f64) -> Self {
        Self { markup, size, colour: Colour::INK }
    }

    /// Text that is made smaller if it would be wider than `room`.
    pub(crate) fn fitted(markup: &'a str, size: f64, room: f64) -> Self {
        let text = Self::new(markup, size);
        let width = text.width();
        if width > room && room > 0.0 {
            return Self::new(markup, size * room / width);
        }
        text
    }

    /// Width in pixels.
    pub(crate) fn width(&self) -> f64 {
        let (mut pen, mut width) = (0.0, 0.0_f64);
        for (run, dx) in spaced(&markup::parse(self.markup), self.size) {
            pen += dx + run_width(run, self.size);
            width = width.max(pen);
        }
        width
    }

    /// Height from the top of a superscript to the bottom of a subscript.
    pub(crate) fn height(&self) -> f64 {
        1.2 * self.size
    }

    /// Writes the text with its baseline at `y`.
    pub(crate) fn draw(&self, svg: &mut Svg, x: f64, y: f64, anchor: Anchor) {
        self.write(svg, x, y, anchor, None);
    }

    /// Writes the text upwards, its middle at `(x, y)`.
    pub(crate) fn draw_upwards(&self, svg: &mut Svg, x: f64, y: f64) {
        let turn = format!("rotate(-90 {} {})", super::svg::number(x), super::svg::number(y));
        let baseline = y + 0.5 * CAP_HEIGHT * self.size;
        self.write(svg, x, baseline, Anchor::Middle, Some(&turn));
    }

    fn write(&self, svg: &mut Svg, x: f64, y: f64, anchor: Anchor, transform: Option<&str>) {
        let colour = self.colour.to_string();
        let anchor = match anchor {
            Anchor::Start => None,
            Anchor::Middle => Some("middle"),
            Anchor::End => Some("end"),
        };
        svg.tag("text")
            .num("x", x)
            .num("y", y)
            .num("font-size", self.size)
            .attr("fill", &colour)
            .maybe("text-anchor", anchor)
            .maybe("transform", transform)
            .open();
        let runs = markup::parse(self.markup);
        let mut baseline = 0.0;
        for (run, dx) in spaced(&runs, self.size) {
            let shift = shift(run.level) * self.size;
            if run.level == Level::Base && shift == baseline && dx == 0.0 {
                svg.text(&run.text);
                continue;
            }
            let mut tag = svg.tag("tspan");
            if dx != 0.0 {
                tag = tag.num("dx", dx);
            }
            tag = tag.num("dy", shift - baseline);
            if run.level != Level::Base {
                tag = tag.num("font-size", SCRIPT_SIZE * self.size);
            }
            tag.open();
            svg.text(&run.text);
            svg.end("tspan");
            baseline = shift;
        }
        svg.end("text");
    }
}

fn shift(level: Level) -> f64 {
    match level {
        Level::Base => 0.0,
        Level::Sub => SUB_SHIFT,
        Level::Super => SUPER_SHIFT,
    }
}

/// Every run with the horizontal step in front of it. The second of two
/// scripts goes back to where the first began, so that they stack; what
/// follows them starts a little behind the wider one.
fn spaced(runs: &[Run], size: f64) -> Vec<(&Run, f64)> {
    let mut out: Vec<(&Run, f64)> = Vec::with_capacity(runs.len());
    let mut stacked = false;
    // How far a stacked script ends before the one above or below it.
    let mut short = 0.0;
    for (i, run) in runs.iter().enumerate() {
        let previous = i.checked_sub(1).map(|i| &runs[i]);
        let stacks = !stacked && run.level != Level::Base && previous.is_some_and(|p| p.level != Level::Base && p.level != run.level);
        let mut dx = short;
        if run.level == Level::Base && previous.is_some() {
            dx += AFTER_SCRIPT * size;
        }
        short = 0.0;
        if let (true, Some(previous)) = (stacks, previous) {
            let first = run_width(previous, size);
            dx = -first;
            short = (first - run_width(run, size)).max(0.0);
        }
        stacked = stacks;
        out.push((run, dx));
    }
    out
}

fn run_width(run: &Run, size: f64) -> f64 {
    let size = match run.level {
        Level::Base => size,
        Level::Sub | Level::Super => SCRIPT_SIZE * size,
    };
    plain_width(&run.text, size)
}

fn plain_width(text: &str, size: f64) -> f64 {
    size * text.chars().map(advance_or_typical).sum::<f64>()
}

/// The advance of a character in units of the text size, a typical one for a character that the font does not have.
pub(crate) fn advance_or_typical(c: char) -> f64 {
    const TYPICAL: f64 = 0.6;
    advance(c).unwrap_or(TYPICAL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_come_from_the_font() {
        // DejaVu Sans digits are 1303 of 2048 units wide.
        let digit = 1303.0 / 2048.0 * 20.0;
        assert!((Text::new("2024", 20.0).width() - 4.0 * digit).abs() < 1e-9);
        assert!(Text::new("W", 20.0).width() > Text::new("i", 20.0).width());
    }

    #[test]
    fn adjacent_scripts_stack() {
        let stacked = Text::new("σ_m^2", 20.0).width();
        assert!((stacked - Text::new("σ_m", 20.0).width()).abs() < 1e-9);
        let wider = Text::new("σ_2^m", 20.0).width();
        assert!((stacked - wider).abs() < 1e-9);
        let then = Text::new("σ_m^2x", 20.0).width() - Text::new("x", 20.0).width();
        assert!((stacked + 20.0 * AFTER_SCRIPT - then).abs() < 1e-9);
    }

    #[test]
    fn scripts_move_and_the_baseline_returns() {
        let mut svg = Svg::default();
        Text::new("σ_m^2 < 1", 10.0).draw(&mut svg, 0.0, 0.0, Anchor::Start);
        let out = svg.finish();
        assert!(out.contains(">σ<tspan dy=\"2.4\" font-size=\"7\">m</tspan>"), "{out}");
        assert!(out.contains("dy=\"-6.8\" font-size=\"7\">2</tspan>"), "{out}");
        assert!(out.contains("dy=\"4.4\"> &lt; 1</tspan></text>"), "{out}");
    }
}
