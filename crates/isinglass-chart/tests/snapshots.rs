//! Pictures as they were when somebody last looked at them, byte for byte.
//!
//! After a change that is meant, `ISINGLASS_BLESS=1 cargo test -p isinglass-chart --test snapshots` writes them anew. Look at them before they are committed: browsers show SVG files.

use std::{fs, path::PathBuf};

use isinglass_chart::{Axis, Band, Callout, Colour, Dash, Figure, HeatMap, Legend, Marker, Panel, RefLine, Series};

#[track_caller]
fn assert_snapshot(name: &str, figure: &Figure) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(format!("{name}.svg"));
    let svg = figure.to_svg().unwrap();
    if std::env::var_os("ISINGLASS_BLESS").is_some() {
        fs::write(&path, &svg).unwrap();
    }
    // Git may have turned the ends of lines into those of the system.
    let stored = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())).replace("\r\n", "\n");
    if let Some((line, (now, before))) = svg.lines().zip(stored.lines()).enumerate().find(|(_, (now, before))| now != before) {
        panic!("{name}.svg, line {}: was\n{before}\nand is\n{now}\n(ISINGLASS_BLESS=1 takes it over)", line + 1);
    }
    assert_eq!(svg.len(), stored.len(), "{name}.svg ends elsewhere");
}

#[test]
fn a_line_with_a_band() {
    let decay = |l: i32| (-f64::from(l) / 6.0).exp();
    let panel = Panel::new(Axis::whole("layer ℓ"), Axis::log10("1 − c_{ab}"))
        .title("Correlation")
        .band(Band::new((0..=12).map(|l| (f64::from(l), 0.7 * decay(l), 1.4 * decay(l)))))
        .series(Series::line((0..=12).map(|l| (f64::from(l), decay(l)))).name("σ_m^2 = 0.9"))
        .series(Series::markers((0..=12).step_by(3).map(|l| (f64::from(l), 1.1 * decay(l)))).marker(Marker::Diamond).name("simulated"))
        .ref_line(RefLine::vertical(6.0).label("ξ_c"))
        .legend(Legend::Below);
    assert_snapshot("line-with-band", &Figure::new().title("N = 1000").panel(panel).size(600, 420));
}

#[test]
fn a_heat_map_over_lists() {
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
    assert_snapshot("map-over-lists", &Figure::new().panel(panel).size(600, 400));
}
