//! Charts from the outside: the SVG and the pixels.

use isinglass_chart::{
    Axis, Band, Callout, ChartError, Colour, ColourMap, Drawing, Figure, Format, HeatMap, ImageSheet, Legend, Panel, RefLine, Region,
    Series, is_ours,
};

fn axes() -> (Axis, Axis) {
    (Axis::linear("x < y & \"z\"").range(0.0, 10.0), Axis::linear("σ_m^2").range(0.0, 10.0))
}

/// A panel with one of everything.
fn full_panel(legend: Legend) -> Panel {
    let (x, y) = axes();
    let map = HeatMap::new((0.0, 10.0), (0.0, 10.0), 3, 2, vec![0.1, 1.0, 2.0, f64::NAN, 9.0, 0.0])
        .unwrap()
        .colours(ColourMap::Diverging { centre: 1.0 })
        .limits(0.5, 3.0)
        .label("χ_1");
    Panel::new(x, y)
        .title("<Title> & more")
        .heat_map(map)
        .series(Series::line([(0.0, 1.0), (5.0, 8.0)]).name("a < b"))
        .series(Series::markers([(1.0, 1.0)]).name("points"))
        .band(Band::new([(0.0, 1.0, 2.0), (9.0, 3.0, 5.0)]).name("band"))
        .ref_line(RefLine::horizontal(5.0).label("limit"))
        .ref_line(RefLine::vertical(5.0).label("limit"))
        .region(Region::right_of(8.0).label("no"))
        .callout(Callout::new(10.0, 10.0, "corner"))
        .callout(Callout::text(3.0, 3.0, "phase"))
        .diagonal()
        .legend(legend)
}

fn full_figure() -> Figure {
    Figure::new()
        .title("All & everything")
        .panel(full_panel(Legend::Auto))
        .panel(full_panel(Legend::Right))
        .panel(full_panel(Legend::Below).square())
        .size(1080, 320)
}

/// A figure that is quick to draw.
fn small_figure() -> Figure {
    let (x, y) = axes();
    Figure::new().panel(Panel::new(x, y)).size(200, 150)
}

/// The rectangle of the first panel's plot area.
fn plot_area(svg: &str) -> [f64; 4] {
    let document = roxmltree::Document::parse(svg).unwrap();
    let clip = document.descendants().find(|n| n.tag_name().name() == "clipPath").unwrap();
    let rect = clip.first_element_child().unwrap();
    ["x", "y", "width", "height"].map(|a| rect.attribute(a).unwrap().parse().unwrap())
}

/// The `d` of the paths inside the clipped group of the only panel.
fn clipped_paths(svg: &str) -> Vec<String> {
    let document = roxmltree::Document::parse(svg).unwrap();
    let group = document.descendants().find(|n| n.attribute("clip-path").is_some()).unwrap();
    let paths = group.descendants().filter(|n| n.tag_name().name() == "path");
    paths.map(|n| n.attribute("d").unwrap().to_owned()).collect()
}

struct Image {
    width: usize,
    height: usize,
    rgb: Vec<u8>,
}

impl Image {
    fn decode(bytes: &[u8]) -> Self {
        let decoder = png::Decoder::new(std::io::Cursor::new(bytes));
        let mut reader = decoder.read_info().unwrap();
        let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut rgb).unwrap();
        assert_eq!(info.color_type, png::ColorType::Rgb);
        let (width, height) = (info.width as usize, info.height as usize);
        Self { width, height, rgb }
    }

    fn pixel(&self, x: f64, y: f64) -> [u8; 3] {
        let i = 3 * (y as usize * self.width + x as usize);
        [self.rgb[i], self.rgb[i + 1], self.rgb[i + 2]]
    }
}

#[test]
fn the_svg_is_well_formed_and_accessible() {
    let svg = full_figure().to_svg().unwrap();
    let document = roxmltree::Document::parse(&svg).unwrap();
    let root = document.root_element();
    assert_eq!(root.attribute("role"), Some("img"));
    let title = root.first_element_child().unwrap();
    assert_eq!(title.tag_name().name(), "title");
    assert_eq!(title.text(), Some("All & everything – <Title> & more – <Title> & more – <Title> & more"));
    let texts: Vec<String> = document
        .descendants()
        .filter(|n| n.tag_name().name() == "text")
        .map(|n| n.descendants().filter(|t| t.is_text()).map(|t| t.text().unwrap()).collect())
        .collect();
    for wanted in ["x < y & \"z\"", "σm2", "a < b", "points", "band", "limit", "no", "corner"] {
        assert!(texts.iter().any(|t| t == wanted), "{wanted} in {texts:?}");
    }
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
}

#[test]
fn no_text_reaches_beyond_the_figure() {
    // With a margin of white all around, nothing was cut off.
    for figure in [full_figure(), full_figure().size(840, 260)] {
        let image = Image::decode(&figure.to_png(1.0).unwrap());
        let (w, h) = (image.width as f64, image.height as f64);
        for x in 0..image.width {
            for y in [0.0, 1.0, h - 2.0, h - 1.0] {
                assert_eq!(image.pixel(x as f64, y), [255; 3], "at {x}, {y}");
            }
        }
        for y in 0..image.height {
            for x in [0.0, 1.0, w - 2.0, w - 1.0] {
                assert_eq!(image.pixel(x, y as f64), [255; 3], "at {x}, {y}");
            }
        }
    }
}

#[test]
fn equal_figures_give_equal_bytes() {
    assert_eq!(full_figure().to_svg().unwrap(), full_figure().to_svg().unwrap());
    assert_eq!(full_figure().to_png(1.0).unwrap(), full_figure().to_png(1.0).unwrap());
    let other = full_figure().title("Another");
    assert_ne!(full_figure().to_svg().unwrap(), other.to_svg().unwrap());
}

#[test]
fn the_png_has_the_size_asked_for() {
    let (x, y) = axes();
    let figure = Figure::new().panel(Panel::new(x, y)).size(300, 200);
    for (scale, width, height) in [(1.0, 300, 200), (2.5, 750, 500)] {
        let image = Image::decode(&figure.to_png(scale).unwrap());
        assert_eq!((image.width, image.height), (width, height));
    }
    for scale in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e6] {
        assert!(matches!(figure.to_png(scale), Err(ChartError::Size { .. })));
    }
    assert!(matches!(figure.size(0, 5).to_svg(), Err(ChartError::Size { .. })));
}

#[test]
fn text_is_drawn_with_the_font_built_in() {
    let (x, y) = axes();
    let panel = || Panel::new(x.clone(), y.clone());
    let without = Figure::new().panel(panel()).to_png(1.0).unwrap();
    let with = Figure::new().panel(panel().title("σ ≤ ∞")).to_png(1.0).unwrap();
    let dark = |bytes: &[u8]| {
        let image = Image::decode(bytes);
        (0..26 * image.width).filter(|i| image.rgb[3 * i] < 128).count()
    };
    // Without a title the frame starts at ten pixels from the top.
    assert!(dark(&with) > 50, "{}", dark(&with));
    assert_ne!(without, with);
}

#[test]
fn lines_are_clipped_and_cut() {
    let (x, y) = axes();
    let wild = [(-1e300, -1e300), (5.0, 5.0), (6.0, 1e300), (1e12, 5.0)];
    let panel = Panel::new(x, y).series(Series::line(wild));
    let svg = Figure::new().panel(panel).to_svg().unwrap();
    let [left, top, width, height] = plot_area(&svg);
    let paths = clipped_paths(&svg);
    assert_eq!(paths.len(), 1);
    let numbers = paths[0].split(['M', 'L', ' ']).filter(|s| !s.is_empty());
    let numbers: Vec<f64> = numbers.map(|s| s.parse().unwrap()).collect();
    assert!(numbers.len() >= 6);
    for point in numbers.chunks(2) {
        assert!((left - 11.0..=left + width + 11.0).contains(&point[0]), "{point:?}");
        assert!((top - 11.0..=top + height + 11.0).contains(&point[1]), "{point:?}");
    }
}

#[test]
fn points_that_are_not_finite_break_a_line() {
    let pieces = |gap: f64| {
        let (x, y) = axes();
        let points = [(1.0, 1.0), (2.0, 3.0), (3.0, gap), (4.0, 2.0), (5.0, 1.0)];
        let panel = Panel::new(x, y).series(Series::line(points));
        let svg = Figure::new().panel(panel).to_svg().unwrap();
        clipped_paths(&svg)[0].matches('M').count()
    };
    assert_eq!(pieces(2.0), 1);
    assert_eq!(pieces(f64::NAN), 2);
    assert_eq!(pieces(f64::INFINITY), 2);
}

#[test]
fn row_zero_of_a_heat_map_is_at_the_bottom() {
    // Row by row from the bottom: low, middle; no value, high.
    let map =
        HeatMap::new((0.0, 10.0), (0.0, 10.0), 2, 2, vec![0.0, 1.0, f64::NAN, 3.0]).unwrap().colours(ColourMap::Diverging { centre: 1.0 });
    let (x, y) = axes();
    let figure = Figure::new().panel(Panel::new(x, y).heat_map(map));
    let [left, top, width, height] = plot_area(&figure.to_svg().unwrap());
    let image = Image::decode(&figure.to_png(1.0).unwrap());
    let at = |x: f64, y: f64| image.pixel(left + x * width, top + (1.0 - y) * height);
    let low = at(0.25, 0.25);
    assert!(low[2] > low[0] + 50, "blue at the bottom left: {low:?}");
    assert_eq!(at(0.75, 0.25), [255; 3], "white at the bottom right");
    let masked = at(0.25, 0.75);
    assert!(masked[0] == masked[1] && masked[1] == masked[2] && masked[0] < 255);
    let high = at(0.75, 0.75);
    assert!(high[0] > high[2] + 50, "red at the top right: {high:?}");
    // Sharp cells: the colour is the same up to the edge.
    assert_eq!(at(0.02, 0.48), low);
    assert_eq!(at(0.98, 0.52), high);
}

#[test]
fn a_large_heat_map_and_a_long_line_stay_small() {
    let n = 1000;
    let values = (0..n * n).map(|i| ((i % n) as f64 / 300.0).sin() * (i / n) as f64).collect();
    let map = HeatMap::new((0.0, 10.0), (0.0, 10.0), n, n, values).unwrap();
    let (x, y) = axes();
    let line = (0..300_000).map(|i| f64::from(i) / 3e4).map(|x| (x, 5.0 + x.sin()));
    let panel = Panel::new(x, y).heat_map(map).series(Series::line(line));
    let svg = Figure::new().panel(panel).to_svg().unwrap();
    assert!(svg.len() < 1_400_000, "{} bytes", svg.len());
    assert!(clipped_paths(&svg)[0].len() < 10_000);
}

#[test]
fn limits_that_cannot_be_shown_are_errors() {
    let panel = Panel::new(Axis::log10("x").range(-1.0, 1.0), Axis::linear("y"));
    let error = Figure::new().panel(panel).to_svg().unwrap_err();
    assert_eq!(error.to_string(), "the x axis cannot show the range from -1 to 1");
    let map = HeatMap::new((0.0, 1.0), (0.0, 1.0), 1, 1, vec![1.0]).unwrap();
    let panel = Panel::new(Axis::log10("x").range(0.1, 1.0), Axis::linear("y")).heat_map(map);
    assert!(Figure::new().panel(panel).to_svg().is_err());
}

#[test]
fn hints_lie_over_their_cells_and_leave_the_png_alone() {
    let map = HeatMap::new((0.0, 10.0), (0.0, 10.0), 2, 2, vec![1.0, 2.0, 3.0, 4.0]).unwrap();
    let draw = |map: HeatMap| {
        let (x, y) = axes();
        Figure::new().panel(Panel::new(x, y).heat_map(map)).size(300, 200)
    };
    let hints = ["low left", "low right", "up <left>", "a & b\nc"].map(str::to_owned).to_vec();
    let hinted = draw(map.clone().hints(hints.clone()));
    let svg = hinted.to_svg().unwrap();
    let document = roxmltree::Document::parse(&svg).unwrap();
    let cells: Vec<_> = document.descendants().filter(|node| node.attribute("class") == Some("cell")).collect();
    let texts: Vec<_> = cells.iter().map(|cell| cell.first_element_child().unwrap().text().unwrap()).collect();
    assert_eq!(texts, hints);
    let area = plot_area(&svg);
    let place = |index: usize| ["x", "y", "width", "height"].map(|name| cells[index].attribute(name).unwrap().parse::<f64>().unwrap());
    let [x, y, w, h] = area;
    for (index, (left, top)) in [(x, y + 0.5 * h), (x + 0.5 * w, y + 0.5 * h), (x, y), (x + 0.5 * w, y)].into_iter().enumerate() {
        for (is, want) in place(index).into_iter().zip([left, top, 0.5 * w, 0.5 * h]) {
            assert!((is - want).abs() < 0.011, "{index}: {is} {want}");
        }
    }
    assert_eq!(hinted.to_png(1.0).unwrap(), draw(map.clone()).to_png(1.0).unwrap());
    assert!(!draw(map.clone()).to_svg().unwrap().contains("class"));
    let error = draw(map.hints(vec![String::new()])).to_svg().unwrap_err();
    assert_eq!(error.to_string(), "a heat map of 4 cells was given 1 hints");
}

#[test]
fn a_white_line_is_seen_in_the_legend() {
    let draw = |colour| {
        let (x, y) = axes();
        let series = Series::line([(0.0, 0.0), (10.0, 10.0)]).colour(colour).name("line");
        Figure::new().panel(Panel::new(x, y).series(series).legend(Legend::Below)).size(300, 200).to_svg().unwrap()
    };
    let grounds = |svg: String| svg.matches("fill=\"#555555\"").count();
    assert_eq!((grounds(draw(Colour::WHITE)), grounds(draw(Colour::BLUE))), (1, 0));
}

#[test]
fn nothing_to_show_is_no_error() {
    assert!(Figure::new().to_png(1.0).is_ok());
    let nothing = Panel::new(Axis::linear(""), Axis::log10(""))
        .series(Series::line([(f64::NAN, -1.0)]).name("none").width(f64::NAN))
        .band(Band::new([(0.0, f64::NAN, 1.0)]))
        .ref_line(RefLine::vertical(f64::NAN).label("nowhere"))
        .region(Region::above(f64::NAN).label("nowhere"))
        .callout(Callout::new(f64::NAN, 0.0, "nowhere"))
        .diagonal();
    assert!(Figure::new().panel(nothing).size(30, 20).to_png(1.0).is_ok());
}

#[test]
fn the_extension_chooses_the_format() {
    assert_eq!(Format::from_path("x/y.svg").unwrap(), Format::Svg);
    assert_eq!(Format::from_path("x.svg/y.PNG").unwrap(), Format::Png);
    for name in ["c.pdf", "c", "svg", ".png", "c.svg.gz"] {
        let error = Format::from_path(name).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains(".svg or .png"), "{error}");
    }
}

#[test]
fn what_was_drawn_is_recognised_and_nothing_else() {
    let title = "Made by isinglass, ".repeat(100);
    let figure = small_figure().title(&title);
    let sheet = ImageSheet::new(1, 1).title(&title).row("a", [[7]]);
    for (svg, png) in [
        (figure.draw(Format::Svg).unwrap(), figure.draw(Format::Png).unwrap()),
        (sheet.draw(Format::Svg).unwrap(), sheet.draw(Format::Png).unwrap()),
    ] {
        assert!(is_ours(Format::Svg, &svg[..400]) && is_ours(Format::Png, &png[..400]));
        assert!(!is_ours(Format::Png, &svg) && !is_ours(Format::Svg, &png));
        let text = png::Decoder::new(std::io::Cursor::new(&png)).read_info().unwrap().info().uncompressed_latin1_text.clone();
        assert_eq!((text.len(), text[0].keyword.as_str(), text[0].text.as_str()), (1, "Software", "isinglass"));
    }
    assert_eq!(figure.draw(Format::Png).unwrap(), figure.to_png(2.0).unwrap());
    // A title that says so is no mark, nor is a mark in another kind of file.
    let foreign = "<svg xmlns=\"http://www.w3.org/2000/svg\"><title>Made by isinglass</title></svg>";
    assert!(!is_ours(Format::Svg, foreign.as_bytes()) && !is_ours(Format::Svg, b"") && !is_ours(Format::Png, b"\x89PNG"));
    assert!(!is_ours(Format::Svg, b"<!-- Made by isinglass --><svg/>"));
    // The image of a heat map is not a chart.
    let map = HeatMap::new((0.0, 1.0), (0.0, 1.0), 1, 1, vec![0.0]).unwrap();
    let svg = Figure::new().panel(Panel::new(Axis::linear(""), Axis::linear("")).heat_map(map)).to_svg().unwrap();
    assert!(!svg.contains("U29mdHdhcm"), "Software, in base64");
}
