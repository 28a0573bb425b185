//! A panel: one pair of axes and everything shown between them.

use super::{
    axis::{Axis, extent},
    colour::{Colour, PALETTE},
    error::ChartError,
    heatmap::HeatMap,
    legend::Legend,
    marks::{Band, Callout, RefLine, Region, Series},
};

/// A plot with its own axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    pub(crate) title: Option<String>,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) layers: Vec<Layer>,
    pub(crate) ref_lines: Vec<RefLine>,
    pub(crate) regions: Vec<Region>,
    pub(crate) callouts: Vec<Callout>,
    pub(crate) diagonal: bool,
    pub(crate) square: bool,
    pub(crate) heat_map: Option<HeatMap>,
    pub(crate) legend: Legend,
}

/// What can appear in the legend, in the order it was added.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Layer {
    Band(Band),
    Series(Series),
}

impl Panel {
    /// A panel with the given axes.
    #[must_use]
    pub fn new(x: Axis, y: Axis) -> Self {
        Self { x, y, ..Self::default() }
    }

    /// Sets the title above the plot.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Adds a line or markers.
    #[must_use]
    pub fn series(mut self, series: Series) -> Self {
        self.layers.push(Layer::Series(series));
        self
    }

    /// Adds a band; bands are drawn below all lines.
    #[must_use]
    pub fn band(mut self, band: Band) -> Self {
        self.layers.push(Layer::Band(band));
        self
    }

    /// Adds a horizontal or vertical reference line.
    #[must_use]
    pub fn ref_line(mut self, line: RefLine) -> Self {
        self.ref_lines.push(line);
        self
    }

    /// Adds a hatched region.
    #[must_use]
    pub fn region(mut self, region: Region) -> Self {
        self.regions.push(region);
        self
    }

    /// Adds a marked point with a label.
    #[must_use]
    pub fn callout(mut self, callout: Callout) -> Self {
        self.callouts.push(callout);
        self
    }

    /// Draws the line on which x and y are equal.
    #[must_use]
    pub fn diagonal(mut self) -> Self {
        self.diagonal = true;
        self
    }

    /// Makes the plot as wide as it is high.
    #[must_use]
    pub fn square(mut self) -> Self {
        self.square = true;
        self
    }

    /// Sets the heat map under everything else.
    #[must_use]
    pub fn heat_map(mut self, heat_map: HeatMap) -> Self {
        self.heat_map = Some(heat_map);
        self
    }

    /// Says where the legend goes.
    #[must_use]
    pub fn legend(mut self, legend: Legend) -> Self {
        self.legend = legend;
        self
    }

    /// The series and bands with the colours they are drawn in.
    pub(crate) fn coloured(&self) -> Vec<(&Layer, Colour)> {
        let mut next = 0;
        self.layers
            .iter()
            .map(|layer| {
                let automatic = PALETTE[next % PALETTE.len()];
                let colour = match layer {
                    Layer::Band(band) => band.colour.unwrap_or(automatic),
                    Layer::Series(series) => series.colour.unwrap_or_else(|| {
                        next += 1;
                        automatic
                    }),
                };
                (layer, colour)
            })
            .collect()
    }

    /// The intervals the axes show.
    pub(crate) fn ranges(&self) -> Result<[(f64, f64); 2], ChartError> {
        let (mut xs, mut ys) = (Vec::new(), Vec::new());
        let mut markers = !self.callouts.is_empty();
        for layer in &self.layers {
            match layer {
                Layer::Band(band) => {
                    for &(x, low, high) in &band.points {
                        xs.push(x);
                        ys.extend([low, high]);
                    }
                }
                Layer::Series(series) => {
                    markers |= series.marker.is_some();
                    xs.extend(series.points.iter().map(|p| p.0));
                    ys.extend(series.points.iter().map(|p| p.1));
                }
            }
        }
        for line in &self.ref_lines {
            if line.vertical { &mut xs } else { &mut ys }.push(line.value);
        }
        for callout in &self.callouts {
            xs.push(callout.point.0);
            ys.push(callout.point.1);
        }
        // A line may run into the side of the frame, a marker should not, and
        // a curve should not look cut off above or below. A heat map fills
        // its frame.
        let (mut x_room, mut y_room) = (if markers { 0.03 } else { 0.0 }, 0.05);
        if let Some(map) = &self.heat_map {
            xs.extend([map.x.0, map.x.1]);
            ys.extend([map.y.0, map.y.1]);
            (x_room, y_room) = (0.0, 0.0);
        }
        Ok([self.x.resolve("x", extent(self.x.scale, xs), x_room)?, self.y.resolve("y", extent(self.y.scale, ys), y_room)?])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_take_the_colour_of_the_series_after_them() {
        let line = || Series::line([(0.0, 0.0)]);
        let panel =
            Panel::default().band(Band::new([])).series(line()).series(line().colour(Colour::BLACK)).band(Band::new([])).series(line());
        let colours: Vec<_> = panel.coloured().iter().map(|(_, c)| *c).collect();
        assert_eq!(colours, [PALETTE[0], PALETTE[0], Colour::BLACK, PALETTE[1], PALETTE[1]]);
    }

    #[test]
    fn everything_shown_sets_the_range() {
        let panel = Panel::default()
            .band(Band::new([(0.0, -1.0, 1.0)]))
            .series(Series::line([(0.0, 0.0), (4.0, 3.0), (5.0, f64::NAN)]))
            .ref_line(RefLine::horizontal(9.0))
            .ref_line(RefLine::vertical(-1.0));
        let [x, y] = panel.ranges().unwrap();
        assert_eq!(x, (-1.0, 5.0));
        assert_eq!(y, (-1.5, 9.5));
    }
}
