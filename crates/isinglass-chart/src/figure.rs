//! A figure: panels in a row under one title.

use super::{
    error::ChartError,
    frame::NOTE_SIZE,
    geometry::Rect,
    mark::SVG_MARK,
    panel::Panel,
    plot, raster,
    svg::{Svg, number},
    text::{Anchor, FONT_FAMILY, Text},
};

const TITLE_SIZE: f64 = 18.0;
pub(crate) const TITLE_HEIGHT: f64 = 38.0;

/// Panels side by side, ready to be drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figure {
    title: Option<String>,
    panels: Vec<Panel>,
    size: Option<(u32, u32)>,
}

impl Figure {
    /// A figure without panels.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the title above all panels.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Adds a panel to the right of those there are.
    #[must_use]
    pub fn panel(mut self, panel: Panel) -> Self {
        self.panels.push(panel);
        self
    }

    /// Sets width and height in pixels. The default is 720 by 480 for one
    /// panel, and 560 by 440 for each of several.
    #[must_use]
    pub fn size(mut self, width: u32, height: u32) -> Self {
        self.size = Some((width, height));
        self
    }

    fn dimensions(&self) -> (f64, f64) {
        let (width, height) = self.size.unwrap_or(match self.panels.len() as u32 {
            0 | 1 => (720, 480),
            n => (n.saturating_mul(560), 440),
        });
        (f64::from(width), f64::from(height))
    }

    /// Draws the figure as SVG. Equal figures give equal text.
    ///
    /// # Errors
    ///
    /// [`ChartError::Range`] if an axis or a colour bar was given limits it
    /// cannot show, [`ChartError::Size`] if the figure has no area.
    pub fn to_svg(&self) -> Result<String, ChartError> {
        let (width, height) = self.dimensions();
        if width < 1.0 || height < 1.0 {
            return Err(ChartError::Size { width, height });
        }
        let mut svg = open_document(width, height, &self.description());
        if self.panels.iter().any(|p| !p.regions.is_empty()) {
            svg.tag("defs").open();
            plot::define_hatch(&mut svg);
            svg.end("defs");
        }
        let mut top = 0.0;
        if let Some(title) = &self.title {
            draw_title(&mut svg, title, width);
            top = TITLE_HEIGHT;
        }
        let share = width / self.panels.len() as f64;
        for (i, panel) in self.panels.iter().enumerate() {
            let outer = Rect::new(i as f64 * share, top, share, height - top);
            plot::draw(&mut svg, panel, outer)?;
        }
        svg.end("svg");
        Ok(svg.finish())
    }

    /// What a screen reader says: the titles, without markup.
    fn description(&self) -> String {
        let titles = self.title.iter();
        let titles = titles.chain(self.panels.iter().filter_map(|p| p.title.as_ref()));
        let spoken: Vec<_> = titles.map(|t| super::markup::stripped(t)).collect();
        if spoken.is_empty() { "Chart".to_owned() } else { spoken.join(" – ") }
    }

    /// Draws the figure as a PNG with `scale` pixels to a unit of length.
    /// Equal figures give equal bytes, whatever fonts are installed.
    ///
    /// # Errors
    ///
    /// Those of [`Figure::to_svg`], [`ChartError::Size`] if the image would
    /// have no pixels or too many, and [`ChartError::NoPng`] in a build without
    /// the feature `png`.
    pub fn to_png(&self, scale: f64) -> Result<Vec<u8>, ChartError> {
        raster::render(&self.to_svg()?, self.dimensions(), scale)
    }
}

/// An SVG of the given size on white, told to screen readers as `description`, its root element left open.
pub(crate) fn open_document(width: f64, height: f64, description: &str) -> Svg {
    let mut svg = Svg::default();
    svg.tag("svg")
        .attr("xmlns", "http://www.w3.org/2000/svg")
        .attr("xmlns:xlink", "http://www.w3.org/1999/xlink")
        .num("width", width)
        .num("height", height)
        .attr("viewBox", &format!("0 0 {} {}", number(width), number(height)))
        .attr("role", "img")
        .attr("font-family", FONT_FAMILY)
        .num("font-size", NOTE_SIZE)
        .open();
    svg.comment(SVG_MARK);
    svg.tag("title").open();
    svg.text(description);
    svg.end("title");
    svg.tag("rect").num("width", width).num("height", height).attr("fill", "#fff").close();
    svg
}

/// The title in the middle of the uppermost [`TITLE_HEIGHT`].
pub(crate) fn draw_title(svg: &mut Svg, title: &str, width: f64) {
    let baseline = 0.5 * TITLE_HEIGHT + 0.4 * TITLE_SIZE;
    let title = Text::fitted(title, TITLE_SIZE, width - 20.0);
    title.draw(svg, 0.5 * width, baseline, Anchor::Middle);
}
