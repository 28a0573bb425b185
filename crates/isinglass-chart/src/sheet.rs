//! A contact sheet: small grey images in labelled rows.

use super::{
    colour::Colour,
    encode,
    error::ChartError,
    figure::{TITLE_HEIGHT, draw_title, open_document},
    heatmap::write_image,
    markup, raster,
    text::{Anchor, CAP_HEIGHT, Text},
};

/// Units of length to a pixel of an image; twice that in a PNG file, so that pixels stay square and sharp.
const PIXEL: f64 = 1.5;
const LABEL_SIZE: f64 = 14.0;
const MARGIN: f64 = 12.0;

/// The grey between images, as ink.
const GUTTER: u8 = 0x30;

/// Rows of images of one size, white where they are 0 and black where they are 255.
///
/// ```
/// use isinglass_chart::ImageSheet;
///
/// let sheet = ImageSheet::new(2, 2).title("Diagonals").row("down", [[255, 0, 0, 255]]).row("up", [[0, 255, 255, 0]]);
/// assert!(sheet.to_svg()?.contains("Diagonals"));
/// # Ok::<(), isinglass_chart::ChartError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ImageSheet {
    title: Option<String>,
    height: usize,
    width: usize,
    rows: Vec<(String, Vec<Vec<u8>>)>,
}

impl ImageSheet {
    /// A sheet without rows, for images of the given size.
    #[must_use]
    pub fn new(height: usize, width: usize) -> Self {
        Self { title: None, height, width, rows: Vec::new() }
    }

    /// Sets the title above all rows.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Adds a row below those there are. An image is its grey values, row after row.
    #[must_use]
    pub fn row<I: Into<Vec<u8>>>(mut self, label: impl Into<String>, images: impl IntoIterator<Item = I>) -> Self {
        self.rows.push((label.into(), images.into_iter().map(Into::into).collect()));
        self
    }

    /// Draws the sheet as SVG. Equal sheets give equal text.
    ///
    /// # Errors
    ///
    /// [`ChartError::Image`] if an image has another size than the sheet's, [`ChartError::Size`] if there are no images.
    pub fn to_svg(&self) -> Result<String, ChartError> {
        let (pixels, columns, rows) = self.pixels()?;
        let (width, height) = self.dimensions();
        let description = self.title.as_ref().map_or_else(|| "Images".to_owned(), |title| markup::stripped(title));
        let mut svg = open_document(width, height, &description);
        if let Some(title) = &self.title {
            draw_title(&mut svg, title, width);
        }
        let (left, top) = (self.left(), self.top());
        let step = (self.height + 1) as f64 * PIXEL;
        for (i, (label, _)) in self.rows.iter().enumerate() {
            let middle = top + (i as f64 + 0.5) * step;
            Text::new(label, LABEL_SIZE).draw(&mut svg, left - 8.0, middle + 0.5 * CAP_HEIGHT * LABEL_SIZE, Anchor::End);
        }
        let palette: Vec<Colour> = (0..=255).rev().map(|grey| Colour(grey, grey, grey)).collect();
        let png = encode::indexed(&palette, columns, rows, &pixels)?;
        write_image(&mut svg, &png, [left, top, columns as f64 * PIXEL, rows as f64 * PIXEL]);
        svg.end("svg");
        Ok(svg.finish())
    }

    /// Draws the sheet as a PNG with `scale` pixels to a unit of length.
    ///
    /// # Errors
    ///
    /// Those of [`ImageSheet::to_svg`], [`ChartError::Size`] if the image would have too many pixels, and [`ChartError::NoPng`] in a build without the feature `png`.
    pub fn to_png(&self, scale: f64) -> Result<Vec<u8>, ChartError> {
        raster::render(&self.to_svg()?, self.dimensions(), scale)
    }

    /// All images side by side with a line around each: grey values, and how many to a row and to a column.
    fn pixels(&self) -> Result<(Vec<u8>, usize, usize), ChartError> {
        let (columns, rows) = self.grid();
        if self.longest_row() == 0 || self.height == 0 || self.width == 0 {
            return Err(ChartError::Size { width: columns as f64, height: rows as f64 });
        }
        let mut pixels = vec![GUTTER; columns * rows];
        for (i, (_, images)) in self.rows.iter().enumerate() {
            for (j, image) in images.iter().enumerate() {
                if image.len() != self.height * self.width {
                    return Err(ChartError::Image { width: self.width, height: self.height, pixels: image.len() });
                }
                for (y, line) in image.chunks_exact(self.width).enumerate() {
                    let start = (1 + i * (self.height + 1) + y) * columns + 1 + j * (self.width + 1);
                    pixels[start..start + self.width].copy_from_slice(line);
                }
            }
        }
        Ok((pixels, columns, rows))
    }

    fn longest_row(&self) -> usize {
        self.rows.iter().map(|(_, images)| images.len()).max().unwrap_or(0)
    }

    fn grid(&self) -> (usize, usize) {
        (1 + self.longest_row() * (self.width + 1), 1 + self.rows.len() * (self.height + 1))
    }

    fn left(&self) -> f64 {
        MARGIN + 8.0 + self.rows.iter().map(|(label, _)| Text::new(label, LABEL_SIZE).width()).fold(0.0, f64::max).ceil()
    }

    fn top(&self) -> f64 {
        if self.title.is_some() { TITLE_HEIGHT } else { MARGIN }
    }

    fn dimensions(&self) -> (f64, f64) {
        let (columns, rows) = self.grid();
        ((self.left() + columns as f64 * PIXEL + MARGIN).ceil(), (self.top() + rows as f64 * PIXEL + MARGIN).ceil())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_stand_in_their_rows_with_a_line_around_each() {
        let sheet = ImageSheet::new(1, 2).row("a", [[1, 2], [3, 4]]).row("b", [[5, 6]]);
        let (pixels, columns, rows) = sheet.pixels().unwrap();
        assert_eq!((columns, rows), (7, 5));
        let g = GUTTER;
        assert_eq!(pixels[7..14], [g, 1, 2, g, 3, 4, g]);
        assert_eq!(pixels[21..28], [g, 5, 6, g, g, g, g]);
    }

    #[test]
    fn sheets_without_images_and_images_of_another_size_are_errors() {
        assert!(matches!(ImageSheet::new(2, 2).row("a", [vec![0; 3]]).to_svg(), Err(ChartError::Image { pixels: 3, .. })));
        assert!(matches!(ImageSheet::new(2, 2).to_svg(), Err(ChartError::Size { .. })));
        assert!(matches!(ImageSheet::new(2, 2).row("a", Vec::<Vec<u8>>::new()).to_svg(), Err(ChartError::Size { .. })));
        assert!(matches!(ImageSheet::new(0, 2).row("a", [vec![]]).to_svg(), Err(ChartError::Size { .. })));
    }
}
