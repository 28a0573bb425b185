//! Figures that are compared with stored ones, as SVG and as pixels.

use isinglass_chart::{
    Axis, Band, Callout, Colour, ColourMap, Dash, Figure, HeatMap, ImageSheet, Legend, Marker, Panel, RefLine, Region, Series,
};

pub fn line_with_band() -> Figure {
    let decay = |l: i32| (-f64::from(l) / 6.0).exp();
    let panel = Panel::new(Axis::whole("layer ℓ"), Axis::log10("1 − c_{ab}"))
        .title("Correlation")
        .band(Band::new((0..=12).map(|l| (f64::from(l), 0.7 * decay(l), 1.4 * decay(l)))))
        .series(Series::line((0..=12).map(|l| (f64::from(l), decay(l)))).name("σ_m^2 = 0.9"))
        .series(Series::markers((0..=12).step_by(3).map(|l| (f64::from(l), 1.1 * decay(l)))).marker(Marker::Diamond).name("simulated"))
        .ref_line(RefLine::vertical(6.0).label("ξ_c"))
        .legend(Legend::Below);
    Figure::new().title("N = 1000").panel(panel).size(600, 420)
}

pub fn map_over_lists() -> Figure {
    let (x, y) = (Axis::listed("σ_m^2", ["0.5", "0.9", "0.99", "1"]), Axis::listed("surrogate", ["deterministic", "lrt-binary", "ste"]));
    let values = vec![0.1, 0.35, 0.8, 0.97, 0.1, 0.2, 0.6, 0.9, 0.5, f64::NAN, 0.55, 0.6];
    let hints = values.iter().enumerate().map(|(i, value)| format!("cell {i} of <12> & \"more\"\naccuracy {value}")).collect();
    let map = HeatMap::new(x.list_edges(), y.list_edges(), 4, 3, values).unwrap().limits(0.0, 1.0).label("test accuracy").hints(hints);
    let reach = [(0.5, 1.0), (2.0, 1.3), (3.0, 2.2), (4.4, 3.5)];
    let panel = Panel::new(x, y)
        .heat_map(map)
        .series(Series::line(reach).colour(Colour::WHITE).width(5.0))
        .series(Series::line(reach).colour(Colour::BLACK).dash(Dash::Dashed).name("3ξ"))
        .callout(Callout::new(4.0, 1.0, "best"))
        .legend(Legend::Below);
    Figure::new().panel(panel).size(600, 400)
}

/// Every mark, dash, kind of text and colour bar.
pub fn everything() -> Figure {
    let wave = |shift: f64| (0..=40).map(move |i| (0.25 * f64::from(i), 5.0 + 3.0 * (0.5 * f64::from(i) + shift).sin()));
    let markers = [Marker::Circle, Marker::Square, Marker::Diamond, Marker::Triangle, Marker::Cross];
    let dashes = [Dash::Solid, Dash::Dashed, Dash::Dotted, Dash::DashDot, Dash::Solid];
    let mut left = Panel::new(Axis::linear("x & < 3 > \"2\"").range(0.0, 10.0), Axis::linear("ε_{∞}^{(2)}_x, Größe").range(0.0, 10.0))
        .title("Title  with <markup> σ_m^2x")
        .legend(Legend::Right)
        .region(Region::right_of(9.0).label("σ_m^2 > 1"))
        .region(Region::above(9.2))
        .ref_line(RefLine::horizontal(1.0).label("limit"))
        .callout(Callout::text(2.0, 8.5, "text 漢"))
        .diagonal();
    for (i, (marker, dash)) in markers.into_iter().zip(dashes).enumerate() {
        let shift = 0.8 * i as f64;
        left = left.series(Series::line(wave(shift)).dash(dash).name(format!("{i}")));
        left = left.series(Series::markers(wave(shift).step_by(7)).marker(marker).name(format!("marker {i}")));
    }
    let map = HeatMap::new((1e-3, 10.0), (0.0, 3.0), 7, 5, (0..35).map(|i| 0.1 * f64::from(i)).collect()).unwrap();
    let map = map.colours(ColourMap::Diverging { centre: 1.0 }).limits(0.5, 3.0).label("slope χ_1");
    let right = Panel::new(Axis::log10("σ_b^2"), Axis::linear("y"))
        .heat_map(map)
        .series(Series::line([(1e-2, 0.5), (1e-2, 0.5)]).width(6.0))
        .callout(Callout::new(0.1, 2.0, "χ_1 ≈ 3"));
    Figure::new().title("Everything").panel(left).panel(right).size(900, 400)
}

pub fn sheet() -> ImageSheet {
    let image = |slope: i32| (0..64).map(|i| (slope * (i % 8) * (i / 8) % 256) as u8).collect::<Vec<u8>>();
    ImageSheet::new(8, 8).title("Products").row("small", [1, 2, 3].map(image)).row("large σ_x", [5, 9].map(image))
}
