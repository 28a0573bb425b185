//! What a panel can show: series, bands, reference lines, regions, callouts.

use super::colour::Colour;

/// The pattern a line is drawn in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dash {
    /// Without gaps.
    #[default]
    Solid,
    /// Dashes.
    Dashed,
    /// Dots.
    Dotted,
    /// Dashes and dots in turn.
    DashDot,
}

impl Dash {
    /// The `stroke-dasharray` for a line of the given width.
    pub(crate) fn array(self, width: f64) -> Option<String> {
        let lengths: &[f64] = match self {
            Self::Solid => return None,
            Self::Dashed => &[4.0, 2.5],
            Self::Dotted => &[1.2, 2.0],
            Self::DashDot => &[5.0, 2.0, 1.2, 2.0],
        };
        // In proportion to the width, but not so fine that it blurs.
        let unit = width.max(1.2);
        let parts: Vec<_> = lengths.iter().map(|l| super::svg::number(l * unit)).collect();
        Some(parts.join(" "))
    }
}

/// The shape of a marker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Marker {
    /// A filled circle.
    #[default]
    Circle,
    /// A filled square.
    Square,
    /// A filled diamond.
    Diamond,
    /// A filled triangle.
    Triangle,
    /// A diagonal cross.
    Cross,
}

/// Points drawn as a line, as markers, or both.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    pub(crate) points: Vec<(f64, f64)>,
    pub(crate) name: Option<String>,
    pub(crate) colour: Option<Colour>,
    pub(crate) line: bool,
    pub(crate) dash: Dash,
    pub(crate) width: f64,
    pub(crate) marker: Option<Marker>,
}

impl Series {
    /// A line through the points. Points that are not finite interrupt it.
    #[must_use]
    pub fn line(points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self { points: points.into_iter().collect(), name: None, colour: None, line: true, dash: Dash::Solid, width: 2.0, marker: None }
    }

    /// A marker at every point. Points that are not finite are left out.
    #[must_use]
    pub fn markers(points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self { line: false, marker: Some(Marker::Circle), ..Self::line(points) }
    }

    /// Lists the series in the legend.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the colour, which otherwise is the next of
    /// [`PALETTE`](super::PALETTE).
    #[must_use]
    pub fn colour(mut self, colour: Colour) -> Self {
        self.colour = Some(colour);
        self
    }

    /// Sets the dash pattern of the line.
    #[must_use]
    pub fn dash(mut self, dash: Dash) -> Self {
        self.dash = dash;
        self
    }

    /// Sets the width of the line in pixels.
    #[must_use]
    pub fn width(mut self, width: f64) -> Self {
        self.width = width;
        self
    }

    /// Sets the shape of the markers, and adds markers to a line.
    #[must_use]
    pub fn marker(mut self, marker: Marker) -> Self {
        self.marker = Some(marker);
        self
    }
}

/// The translucent area between a lower and an upper curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    /// x, lower and upper.
    pub(crate) points: Vec<(f64, f64, f64)>,
    pub(crate) name: Option<String>,
    pub(crate) colour: Option<Colour>,
}

impl Band {
    /// A band through points `(x, lower, upper)`. Points that are not finite
    /// interrupt it.
    #[must_use]
    pub fn new(points: impl IntoIterator<Item = (f64, f64, f64)>) -> Self {
        Self { points: points.into_iter().collect(), name: None, colour: None }
    }

    /// Lists the band in the legend.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the colour, which otherwise is the one the next series without a
    /// colour of its own will take: add a band just before its line.
    #[must_use]
    pub fn colour(mut self, colour: Colour) -> Self {
        self.colour = Some(colour);
        self
    }
}

/// A straight line across the plot at one value.
#[derive(Clone, Debug, PartialEq)]
pub struct RefLine {
    pub(crate) value: f64,
    pub(crate) vertical: bool,
    pub(crate) label: Option<String>,
    pub(crate) colour: Colour,
    pub(crate) dash: Dash,
}

impl RefLine {
    /// The line at `y`.
    #[must_use]
    pub fn horizontal(y: f64) -> Self {
        Self { value: y, vertical: false, label: None, colour: Colour::GREY, dash: Dash::Dashed }
    }

    /// The line at `x`.
    #[must_use]
    pub fn vertical(x: f64) -> Self {
        Self { vertical: true, ..Self::horizontal(x) }
    }

    /// Writes a label next to the line.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Sets the colour of line and label, which otherwise is grey.
    #[must_use]
    pub fn colour(mut self, colour: Colour) -> Self {
        self.colour = colour;
        self
    }

    /// Sets the pattern, which otherwise is dashed.
    #[must_use]
    pub fn dash(mut self, dash: Dash) -> Self {
        self.dash = dash;
        self
    }
}

/// A hatched rectangle, for values that are not allowed.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    pub(crate) x: (f64, f64),
    pub(crate) y: (f64, f64),
    pub(crate) label: Option<String>,
}

impl Region {
    /// The rectangle of the two intervals. An end beyond the axis, such as an
    /// infinite one, means the edge of the plot.
    #[must_use]
    pub fn new(x: (f64, f64), y: (f64, f64)) -> Self {
        Self { x, y, label: None }
    }

    /// Everything to the right of `x`.
    #[must_use]
    pub fn right_of(x: f64) -> Self {
        Self::new((x, f64::INFINITY), (f64::NEG_INFINITY, f64::INFINITY))
    }

    /// Everything above `y`.
    #[must_use]
    pub fn above(y: f64) -> Self {
        Self::new((f64::NEG_INFINITY, f64::INFINITY), (y, f64::INFINITY))
    }

    /// Writes a label into the region.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }
}

/// A label at a point that stays inside the plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Callout {
    pub(crate) point: (f64, f64),
    pub(crate) label: String,
    pub(crate) colour: Colour,
    pub(crate) marked: bool,
}

impl Callout {
    /// A marker at `(x, y)`, with the label beside it where there is room.
    #[must_use]
    pub fn new(x: f64, y: f64, label: impl Into<String>) -> Self {
        Self { point: (x, y), label: label.into(), colour: Colour::BLACK, marked: true }
    }

    /// A label alone, its middle at `(x, y)`, as for the name of a phase.
    #[must_use]
    pub fn text(x: f64, y: f64, label: impl Into<String>) -> Self {
        Self { marked: false, ..Self::new(x, y, label) }
    }

    /// Sets the colour of the marker, which otherwise is black.
    #[must_use]
    pub fn colour(mut self, colour: Colour) -> Self {
        self.colour = colour;
        self
    }
}
