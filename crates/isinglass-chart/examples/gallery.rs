//! Draws one chart of every kind the toolkit uses, as PNG and SVG.
//!
//! `cargo run --example gallery -- <directory>` (default `gallery`). The data
//! are made up: they have the shapes of the theory's results, not its values.

use std::{
    error::Error,
    fs,
    path::{Path, PathBuf},
};

use isinglass_chart::{
    Axis, Band, Callout, Colour, ColourMap, Dash, Drawing, Figure, Format, HeatMap, ImageSheet, Legend, Marker, Panel, RefLine, Region,
    Series,
};

fn main() -> Result<(), Box<dyn Error>> {
    let directory = PathBuf::from(std::env::args().nth(1).unwrap_or("gallery".into()));
    fs::create_dir_all(&directory)?;
    let figures = [
        ("1-layers", layers()),
        ("2-correlation-map", correlation_map()),
        ("3-critical-lines", critical_lines()),
        ("4-phase-diagram", phase_diagram()?),
        ("5-depth-scale", depth_scale()?),
        ("6-everything", everything()),
    ];
    for (name, figure) in figures {
        for extension in ["png", "svg"] {
            let path = directory.join(format!("{name}.{extension}"));
            write(&figure, &path)?;
        }
    }
    for extension in ["png", "svg"] {
        write(&images(), &directory.join(format!("7-images.{extension}")))?;
    }
    Ok(())
}

fn write(chart: &impl Drawing, path: &Path) -> Result<(), Box<dyn Error>> {
    let bytes = chart.draw(Format::from_path(path)?)?;
    fs::write(path, &bytes)?;
    println!("{} ({} bytes)", path.display(), bytes.len());
    Ok(())
}

/// Variance and correlation along the layers: theory as lines, the spread of
/// simulations as bands, their mean as markers.
fn layers() -> Figure {
    let mut variance = Panel::new(Axis::linear("layer ℓ"), Axis::linear("variance q_{aa}")).title("(a) Length of the signal");
    let mut correlation = Panel::new(Axis::linear("layer ℓ"), Axis::linear("correlation c_{ab}").range(0.0, 1.05))
        .title("(b) Angle between two signals")
        .ref_line(RefLine::horizontal(1.0).label("c* = 1"));
    let markers = [Marker::Circle, Marker::Square, Marker::Diamond];
    for (i, (strength, depth)) in [(0.5, 4.0), (0.9, 9.0), (0.99, 25.0)].into_iter().enumerate() {
        let q = |l: f64| 0.4 + strength + (1.6 - strength) * (-l / depth).exp();
        let c = |l: f64| 1.0 - (0.4 + 0.15 * i as f64) * (-l / (2.0 * depth)).exp();
        let steps = || (0..=50).map(f64::from);
        let name = format!("σ_m^2 = {strength}");
        let noise = |l: f64| 0.03 * (1.7 * l + strength).sin();
        variance = variance
            .band(Band::new(steps().map(|l| (l, q(l) - 0.08, q(l) + 0.08))))
            .series(Series::line(steps().map(|l| (l, q(l)))).name(&name));
        correlation = correlation
            .band(Band::new(steps().map(|l| (l, c(l) - 0.03, c(l) + 0.03))))
            .series(Series::line(steps().map(|l| (l, c(l)))).name(&name).dash([Dash::Solid, Dash::Dashed, Dash::DashDot][i]));
        variance = variance.series(
            Series::markers(steps().step_by(5).map(|l| (l, q(l) + noise(l)))).marker(markers[i]).colour(isinglass_chart::PALETTE[i]),
        );
    }
    Figure::new().title("Forward pass of a binary network, N = 1000, σ_b^2 = 0.05").panel(variance).panel(correlation)
}

/// The map of correlations from layer to layer and its fixed points.
fn correlation_map() -> Figure {
    let map = |slope: f64| {
        let bias = 0.1;
        move |c: f64| (bias + (2.0 / std::f64::consts::PI) * slope * c.asin()).min(1.0)
    };
    let grid = || (0..=1000).map(|i| f64::from(i) / 1000.0);
    let mut panel = Panel::new(Axis::linear("c^{ℓ−1}").range(0.0, 1.0), Axis::linear("c^{ℓ} = f(c^{ℓ−1})").range(0.0, 1.0))
        .title("Correlation map f, χ_1 = f′(1)")
        .diagonal()
        .square();
    for slope in [0.5, 0.7, 0.9] {
        let f = map(slope);
        panel = panel.series(Series::line(grid().map(|c| (c, f(c)))).name(format!("γ = {slope}")));
    }
    let fixed = |f: &dyn Fn(f64) -> f64| (0..500).fold(0.2, |c, _| f(c));
    let c = fixed(&map(0.7));
    panel = panel.callout(Callout::new(c, c, format!("c* = {c:.3}")).colour(Colour::VERMILION));
    Figure::new().panel(panel.callout(Callout::new(1.0, 1.0, "c* = 1"))).size(600, 560)
}

/// Critical lines over thirty decades of the bias variance.
fn critical_lines() -> Figure {
    let grid = || (0..=620).map(|i| 10_f64.powf(-30.0 + f64::from(i) / 20.0));
    let line = |a: f64| move |x: f64| 0.9 + a * (1.0 + x.powf(0.07) * 3.0).ln();
    let mut panel =
        Panel::new(Axis::log10("bias variance σ_b^2").range(1e-30, 10.0), Axis::linear("weight variance σ_w^2").range(0.5, 4.0))
            .title("Critical lines χ_1 = 1")
            .region(Region::above(3.2).label("not allowed: σ_m^2 > 1"))
            .ref_line(RefLine::horizontal(3.2).label("σ_m^2 = 1").colour(Colour::BLACK));
    for (name, a, dash) in
        [("sign, deterministic", 0.55, Dash::Solid), ("stochastic", 0.85, Dash::Dashed), ("continuous tanh(κ x)", 1.3, Dash::Dotted)]
    {
        let f = line(a);
        panel = panel.series(Series::line(grid().map(|x| (x, f(x)))).name(name).dash(dash));
    }
    Figure::new().panel(panel.callout(Callout::new(1e-10, line(0.85)(1e-10), "σ_b^2 = 10^{-10}")))
}

/// χ_1 over the plane of the variances, white where it is one.
fn phase_diagram() -> Result<Figure, Box<dyn Error>> {
    let (nx, ny) = (200, 200);
    let (x, y) = ((0.0, 1.2), (0.0, 3.0));
    let chi = |x: f64, y: f64| 0.35 + 1.9 * x * x / (0.55 + 0.5 * y) + 0.9 * x;
    let mut values = Vec::with_capacity(nx * ny);
    for j in 0..ny {
        let v = y.0 + (y.1 - y.0) * (j as f64 + 0.5) / ny as f64;
        for i in 0..nx {
            let u = x.0 + (x.1 - x.0) * (i as f64 + 0.5) / nx as f64;
            values.push(if u > 1.0 { f64::NAN } else { chi(u, v) });
        }
    }
    let critical = (0..=300).map(|j| {
        let v = 3.0 * f64::from(j) / 300.0;
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..50 {
            let middle: f64 = 0.5 * (low + high);
            if chi(middle, v) < 1.0 { low = middle } else { high = middle }
        }
        (low, v)
    });
    let map = HeatMap::new(x, y, nx, ny, values)?.colours(ColourMap::Diverging { centre: 1.0 }).limits(0.4, 3.0).label("slope χ_1");
    let panel = Panel::new(Axis::linear("variance of the means σ_m^2"), Axis::linear("bias variance σ_b^2"))
        .title("Ordered and chaotic phase")
        .heat_map(map)
        .series(Series::line(critical).name("χ_1 = 1").colour(Colour::BLACK))
        .ref_line(RefLine::vertical(1.0).label("σ_m^2 = 1").colour(Colour::BLACK))
        .callout(Callout::text(0.2, 1.5, "ordered"))
        .callout(Callout::text(0.75, 1.5, "chaotic"))
        .callout(Callout::new(0.85, 0.3, "χ_1 ≈ 3"));
    Ok(Figure::new().panel(panel))
}

/// A depth scale that diverges at a line, on a logarithmic colour bar.
fn depth_scale() -> Result<Figure, Box<dyn Error>> {
    let (nx, ny) = (300, 240);
    let mut values = Vec::with_capacity(nx * ny);
    for j in 0..ny {
        let v = 4.0 * (j as f64 + 0.5) / ny as f64;
        for i in 0..nx {
            let u = -4.0 + 5.0 * (i as f64 + 0.5) / nx as f64;
            let chi = v / (1.6 + 0.3 * u.exp());
            values.push(1.0 / chi.ln().abs());
        }
    }
    let map = HeatMap::new((1e-4, 10.0), (0.0, 4.0), nx, ny, values)?.log10().limits(0.3, 300.0).label("depth scale ξ_c (layers)");
    let panel = Panel::new(Axis::log10("bias variance σ_b^2"), Axis::linear("weight variance σ_w^2"))
        .title("Depth to which signals are told apart")
        .heat_map(map);
    Ok(Figure::new().panel(panel))
}

/// Smaller panels with legends beside and below, gaps, and markup.
fn everything() -> Figure {
    let wave = |k: f64| {
        (0..=2000).map(move |i| {
            let x = f64::from(i) / 200.0;
            // A pole, where the line must stop and start again.
            let y = if i % 900 == 450 { f64::NAN } else { (k * x).tan() };
            (x, y)
        })
    };
    let right = Panel::new(Axis::linear("x & < 3 > \"2\""), Axis::linear("tan(k x)").range(-5.0, 5.0))
        .title("Legend::Right")
        .legend(Legend::Right)
        .series(Series::line(wave(0.5)).name("k = ½"))
        .series(Series::line(wave(0.8)).name("k = 0.8").dash(Dash::Dotted))
        .region(Region::right_of(9.0).label("σ_m^2 > 1, upwards"));
    let powers = |a: f64| (1..=12).map(move |i| (f64::from(i) * 1e5, a * f64::from(i).powf(-1.5)));
    let below = Panel::new(Axis::linear("samples"), Axis::log10("error ε_{∞}^{(2)}_x"))
        .title("Legend::Below")
        .legend(Legend::Below)
        .series(Series::markers(powers(1.0)).marker(Marker::Triangle).name("first"))
        .series(Series::line(powers(0.2)).marker(Marker::Cross).name("second, longer name"))
        .series(Series::line(powers(0.05)).marker(Marker::Diamond).name("third ∝ n^{-3/2}"))
        .band(Band::new(powers(0.05).map(|(x, y)| (x, 0.7 * y, 1.4 * y))).name("spread"));
    Figure::new().panel(right).panel(below)
}

/// A contact sheet: rings and bars of growing size.
fn images() -> ImageSheet {
    let image = |inside: &dyn Fn(i32, i32) -> bool| -> Vec<u8> {
        (0..28 * 28).map(|i| if inside(i % 28 - 14, i / 28 - 14) { 255 } else { (i * 7 % 40) as u8 }).collect()
    };
    let sizes = [16, 36, 64, 100, 144];
    ImageSheet::new(28, 28)
        .title("Shapes")
        .row("rings", sizes.map(|size| image(&|x, y| (x * x + y * y - size).abs() < 25)))
        .row("bars σ_x", sizes.map(|size| image(&|x, _| x * x < size / 4)))
}
