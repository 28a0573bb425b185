//! How one of several series is told from the others.

use super::colour::{Colour, PALETTE};
use super::marks::{Band, Dash, Marker, Series};

const DASHES: [Dash; 3] = [Dash::Solid, Dash::Dashed, Dash::DashDot];
const MARKERS: [Marker; 4] = [Marker::Circle, Marker::Square, Marker::Diamond, Marker::Triangle];

/// A colour, a dash and a marker that go together: series are told apart in print without colours too.
///
/// ```
/// use isinglass_chart::Look;
///
/// assert_ne!(Look::nth(0).colour, Look::nth(1).colour);
/// let series = Look::nth(0).line([(0.0, 1.0), (1.0, 2.0)]).name("the first");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// Of lines, markers and bands.
    pub colour: Colour,
    /// Of lines.
    pub dash: Dash,
    /// Of points.
    pub marker: Marker,
}

impl Look {
    /// That of the series with this number, from 0. After some they come again.
    pub fn nth(index: usize) -> Self {
        Self { colour: PALETTE[index % PALETTE.len()], dash: DASHES[index % DASHES.len()], marker: MARKERS[index % MARKERS.len()] }
    }

    /// A line.
    pub fn line(self, points: impl IntoIterator<Item = (f64, f64)>) -> Series {
        Series::line(points).colour(self.colour).dash(self.dash)
    }

    /// A line with a marker at every point.
    pub fn marked_line(self, points: impl IntoIterator<Item = (f64, f64)>) -> Series {
        self.line(points).marker(self.marker)
    }

    /// Markers alone.
    pub fn markers(self, points: impl IntoIterator<Item = (f64, f64)>) -> Series {
        Series::markers(points).colour(self.colour).marker(self.marker)
    }

    /// A band.
    pub fn band(self, points: impl IntoIterator<Item = (f64, f64, f64)>) -> Band {
        Band::new(points).colour(self.colour)
    }
}
