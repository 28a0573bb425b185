//! Axes: label, scale, range, and the map from values to pixels.

use super::ChartError;
use super::frame::TICK_SIZE;
use super::ticks::{self, Tick};

/// How values spread along an axis or a colour bar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Equal steps are equally far apart.
    #[default]
    Linear,
    /// The same, for things that are counted: marked at whole numbers only.
    Whole,
    /// Equal factors are equally far apart.
    Log10,
}

impl Scale {
    /// The coordinate in which the scale is even; NaN where it has no place.
    pub(crate) fn coordinate(self, value: f64) -> f64 {
        match self {
            Self::Linear | Self::Whole => value,
            Self::Log10 if value > 0.0 => value.log10(),
            Self::Log10 => f64::NAN,
        }
    }

    /// The value at a coordinate, the inverse of [`Scale::coordinate`].
    pub(crate) fn value(self, coordinate: f64) -> f64 {
        match self {
            Self::Linear | Self::Whole => coordinate,
            Self::Log10 => 10_f64.powf(coordinate),
        }
    }

    /// Whether the interval can be shown.
    pub(crate) fn admits(self, (low, high): (f64, f64)) -> bool {
        let (a, b) = (self.coordinate(low), self.coordinate(high));
        a.is_finite() && b.is_finite() && a < b && (b - a).is_finite()
    }
}

/// One axis of a [`Panel`](super::Panel).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// The label, in the markup described in [the module](super).
    pub label: String,
    /// Linear or logarithmic.
    pub scale: Scale,
    /// The interval shown, or `None` to show all data.
    pub range: Option<(f64, f64)>,
    /// The labels of the places 1, 2, 3, … of a [listed](Axis::listed) axis; none of any other.
    pub places: Vec<String>,
    /// The values that are marked, with their labels; empty to choose them by the range. See [`Axis::ticks_at`].
    pub marks: Vec<(f64, String)>,
}

impl Axis {
    /// A linear axis.
    #[must_use]
    pub fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), ..Self::default() }
    }

    /// A linear axis of things that are counted, such as layers or epochs.
    #[must_use]
    pub fn whole(label: impl Into<String>) -> Self {
        Self { scale: Scale::Whole, ..Self::linear(label) }
    }

    /// A logarithmic axis. Values that are not positive have no place on it:
    /// they interrupt a line.
    #[must_use]
    pub fn log10(label: impl Into<String>) -> Self {
        Self { scale: Scale::Log10, ..Self::linear(label) }
    }

    /// An axis of things in a list: words, or numbers that are not evenly apart. The first is at 1, the second at 2, and so on; each is marked with its own
    /// label (in the markup of [the module](super)), some of them if there is not room for all. All of the list is shown, from 0.5 to half a place behind the last.
    ///
    /// ```
    /// use isinglass_chart::{Axis, Figure, HeatMap, Panel};
    ///
    /// let x = Axis::listed("depth L", ["2", "4", "8"]);
    /// let map = HeatMap::new(x.list_edges(), (0.0, 1.0), 3, 1, vec![0.9, 0.8, 0.1])?;
    /// let svg = Figure::new().panel(Panel::new(x, Axis::linear("σ_m^2")).heat_map(map)).to_svg()?;
    /// assert!(svg.contains(">8</text>"));
    /// # Ok::<(), isinglass_chart::ChartError>(())
    /// ```
    #[must_use]
    pub fn listed(label: impl Into<String>, places: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { places: places.into_iter().map(Into::into).collect(), ..Self::linear(label) }
    }

    /// The interval that all places of a listed axis take: the edges of a heat map over it.
    pub fn list_edges(&self) -> (f64, f64) {
        (0.5, self.places.len().max(1) as f64 + 0.5)
    }

    /// Shows the interval from `low` to `high` instead of all data.
    #[must_use]
    pub fn range(mut self, low: f64, high: f64) -> Self {
        self.range = Some((low, high));
        self
    }

    /// Marks these values, with these labels, and no others: the depths that were trained, or an axis with a scale of its own.
    ///
    /// ```
    /// use isinglass_chart::{Axis, Figure, Panel, Series};
    ///
    /// let depth = Axis::log10("depth").ticks_at([3.0, 20.0].map(|depth: f64| (depth, depth.to_string())));
    /// let panel = Panel::new(depth, Axis::linear("accuracy")).series(Series::line([(3.0, 0.9), (20.0, 0.8)]));
    /// assert!(Figure::new().panel(panel).to_svg()?.contains(">20</text>"));
    /// # Ok::<(), isinglass_chart::ChartError>(())
    /// ```
    #[must_use]
    pub fn ticks_at(mut self, marks: impl IntoIterator<Item = (f64, impl Into<String>)>) -> Self {
        self.marks = marks.into_iter().map(|(value, label)| (value, label.into())).collect();
        self
    }

    /// The interval shown, given the smallest and largest of the data and how
    /// much room to leave around them, as a fraction of their extent.
    pub(crate) fn resolve(&self, name: &str, extent: Option<(f64, f64)>, room: f64) -> Result<(f64, f64), ChartError> {
        if let Some((low, high)) = self.range {
            if !self.scale.admits((low, high)) {
                return Err(ChartError::Range { what: format!("the {name} axis"), low, high });
            }
            return Ok((low, high));
        }
        if !self.places.is_empty() {
            return Ok(self.list_edges());
        }
        let default = match self.scale {
            Scale::Linear | Scale::Whole => (0.0, 1.0),
            Scale::Log10 => (1.0, 10.0),
        };
        let Some((low, high)) = extent else {
            return Ok(default);
        };
        let (mut a, mut b) = (self.scale.coordinate(low), self.scale.coordinate(high));
        let pad = if b > a {
            room * (b - a)
        } else if self.scale == Scale::Log10 || a == 0.0 {
            0.5
        } else {
            0.1 * a.abs()
        };
        a -= pad;
        b += pad;
        let padded = (self.scale.value(a), self.scale.value(b));
        // Data at the very ends of what a float holds leave no room.
        if self.scale.admits(padded) {
            Ok(padded)
        } else if self.scale.admits((low, high)) {
            Ok((low, high))
        } else {
            Err(ChartError::Range { what: format!("the {name} axis"), low, high })
        }
    }
}

impl Axis {
    /// The ticks of the axis on `length` pixels; `across` as in [`ticks::fitting`].
    pub(crate) fn ticks(&self, range: (f64, f64), length: f64, across: bool) -> Vec<Tick> {
        if !self.marks.is_empty() {
            ticks::given(&self.marks, range)
        } else if self.places.is_empty() {
            ticks::fitting(self.scale, range, length, TICK_SIZE, across)
        } else {
            ticks::listed(&self.places, range, length, TICK_SIZE, across)
        }
    }
}

/// The smallest and largest of the values a scale has a place for.
pub(crate) fn extent(scale: Scale, values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    values.into_iter().filter(|v| scale.coordinate(*v).is_finite()).fold(None, |found, v| match found {
        None => Some((v, v)),
        Some((low, high)) => Some((v.min(low), v.max(high))),
    })
}

/// An axis laid out on the page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mapping {
    pub(crate) scale: Scale,
    pub(crate) range: (f64, f64),
    /// The pixels of the two ends of the range.
    pub(crate) pixels: (f64, f64),
}

impl Mapping {
    /// The pixel of a value; not finite where the scale has no place for it.
    pub(crate) fn pixel(&self, value: f64) -> f64 {
        let low = self.scale.coordinate(self.range.0);
        let high = self.scale.coordinate(self.range.1);
        let fraction = (self.scale.coordinate(value) - low) / (high - low);
        let pixel = self.pixels.0 + fraction * (self.pixels.1 - self.pixels.0);
        if value.is_finite() {
            // Far outside; kept finite so that lines to it can be cut.
            pixel.clamp(-1e9, 1e9)
        } else {
            f64::NAN
        }
    }

    /// The pixel of the end of an interval that may reach beyond the axis.
    pub(crate) fn pixel_within(&self, value: f64) -> f64 {
        let (low, high) = self.range;
        if value <= low || (self.scale == Scale::Log10 && value <= 0.0) {
            self.pixels.0
        } else if value >= high {
            self.pixels.1
        } else {
            self.pixel(value)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_set_the_range_with_room() {
        let axis = Axis::linear("");
        assert_eq!(axis.resolve("x", Some((0.0, 10.0)), 0.1).unwrap(), (-1.0, 11.0));
        assert_eq!(axis.resolve("x", Some((2.0, 2.0)), 0.1).unwrap(), (1.8, 2.2));
        assert_eq!(axis.resolve("x", None, 0.1).unwrap(), (0.0, 1.0));
    }

    #[test]
    fn ranges_that_cannot_be_shown_are_errors() {
        for (low, high) in [(1.0, 1.0), (2.0, 1.0), (0.0, f64::NAN), (0.0, f64::INFINITY)] {
            assert!(Axis::linear("").range(low, high).resolve("x", None, 0.0).is_err());
        }
        assert!(Axis::linear("").range(0.0, 1.0).resolve("x", None, 0.0).is_ok());
        let error = Axis::log10("").range(0.0, 1.0).resolve("x", None, 0.0);
        assert_eq!(error.unwrap_err().to_string(), "the x axis cannot show the range from 0 to 1");
    }

    #[test]
    fn extents_skip_what_the_scale_cannot_place() {
        let values = [3.0, f64::NAN, -1.0, 0.0, f64::INFINITY, 5.0];
        assert_eq!(extent(Scale::Linear, values), Some((-1.0, 5.0)));
        assert_eq!(extent(Scale::Log10, values), Some((3.0, 5.0)));
        assert_eq!(extent(Scale::Log10, [-1.0]), None);
    }

    #[test]
    fn given_ticks_are_those_within_the_range() {
        let axis = Axis::log10("").ticks_at([(1.0, "one"), (3.0, "three"), (100.0, "many")]);
        let ticks = axis.ticks((2.0, 100.0), 300.0, true);
        let labels: Vec<_> = ticks.iter().map(|tick| (tick.value, tick.label.as_deref())).collect();
        assert_eq!(labels, [(3.0, Some("three")), (100.0, Some("many"))]);
    }

    #[test]
    fn logarithmic_pixels_are_even_in_decades() {
        let map = Mapping { scale: Scale::Log10, range: (1e-30, 10.0), pixels: (0.0, 310.0) };
        assert!((map.pixel(1e-20) - 100.0).abs() < 1e-9);
        assert!(map.pixel(0.0).is_nan());
        assert_eq!(map.pixel_within(0.0), 0.0);
        assert_eq!(map.pixel_within(f64::INFINITY), 310.0);
    }
}
