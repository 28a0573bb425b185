//! The pictures of the `theory` commands.

use isinglass_lab::chart::{Axis, Callout, Colour, ColourMap, Dash, Figure, HeatMap, Panel, RefLine, Region, Series};
use isinglass_lab::phase_diagram::{CarriedDiagram, CarriedQuantity, PhaseDiagram, Quantity};
use isinglass_lab::words::digits;
use isinglass_theory::activation::FieldPair;
use isinglass_theory::advice::signal_rate;
use isinglass_theory::carried::Remains;
use isinglass_theory::linspace;
use isinglass_theory::{Advice, CarriedAdvice, CriticalPoint, CriticalSet, Model, Point, RandomNetwork, WeightVariance, depth_scale};

use super::network::{BIAS_AXIS, network_title, weight_variance_axis};
use crate::cli::CliError;

/// Variances and correlation over the layers.
pub fn trajectory(title: &str, layers: &[FieldPair]) -> Figure {
    let curve = |value: fn(&FieldPair) -> f64| layers.iter().enumerate().map(move |(layer, pair)| (layer as f64, value(pair)));
    let equal = layers.iter().all(|pair| pair.q_a == pair.q_b);
    let largest = layers.iter().map(|pair| pair.q_a.max(pair.q_b)).fold(0.0, f64::max);
    let smallest = layers.iter().map(|pair| pair.q_a.min(pair.q_b)).fold(f64::INFINITY, f64::min);
    // A signal that dies out is a straight line on a logarithmic axis, and an invisible one on a linear axis.
    let fades = smallest > 0.0 && smallest < 1e-3 * largest;
    let q_axis = if fades {
        Axis::log10("variance of the field, q")
    } else {
        Axis::linear("variance of the field, q").range(0.0, (1.05 * largest).max(f64::MIN_POSITIVE))
    };
    let mut variance = Panel::new(Axis::linear("layer"), q_axis);
    if equal {
        variance = variance.series(Series::line(curve(|pair| pair.q_a)).name("q_a = q_b"));
    } else {
        variance = variance
            .series(Series::line(curve(|pair| pair.q_a)).name("q_a"))
            .series(Series::line(curve(|pair| pair.q_b)).name("q_b").dash(Dash::Dashed));
    }
    let negative = layers.iter().any(|pair| pair.correlation.c() < 0.0);
    let c_axis = Axis::linear("correlation of the signals, c").range(if negative { -1.03 } else { 0.0 }, 1.03);
    let correlation =
        Panel::new(Axis::linear("layer"), c_axis).series(Series::line(curve(|pair| pair.correlation.c())).colour(Colour::VERMILION));
    Figure::new().title(title).panel(variance).panel(correlation)
}

/// `c_out` over `c_in` with the diagonal, on which the fixed points lie.
pub fn correlation_map(title: &str, curve: &[(f64, f64)]) -> Figure {
    let axis = |label: &str| Axis::linear(label).range(0.0, 1.0);
    let panel = Panel::new(axis("correlation before the layer, c_{in}"), axis("correlation after it, c_{out}"))
        .square()
        .diagonal()
        .series(Series::line(curve.iter().copied()).name("correlation map"))
        .series(Series::line([(f64::NAN, f64::NAN)]).name("c_{out} = c_{in}").colour(Colour::GREY).dash(Dash::Dashed).width(1.0));
    Figure::new().title(title).panel(panel).size(620, 600)
}

/// Critical initialisations in the plane of `σ_b²` (logarithmic) and `σ_m²` or `σ_w²`.
pub fn critical_line(title: &str, model: Model, points: &[CriticalPoint]) -> Figure {
    let means = model.weight_variance() == WeightVariance::Means;
    let place = |point: &CriticalPoint| (point.sigma_b2, point.sigma2.unwrap_or(1.0));
    let positive: Vec<(f64, f64)> = points.iter().filter(|point| point.sigma_b2 > 0.0).map(place).collect();
    let on_a_line = positive.len() > 1;
    let top = points.iter().filter_map(|point| point.sigma2).fold(1.0, f64::max);
    let y_axis = Axis::linear(weight_variance_axis(model)).range(0.0, 1.25 * top);
    let x_limit = points.iter().map(|point| point.sigma_b2).fold(0.5, |limit, sigma_b2| f64::max(limit, 2.0 * sigma_b2));
    let x_axis = if on_a_line { Axis::log10(BIAS_AXIS) } else { Axis::linear(BIAS_AXIS).range(-0.05 * x_limit, x_limit) };
    let mut panel = Panel::new(x_axis, y_axis);
    if means {
        panel = panel.region(Region::above(1.0).label("σ_m^2 > 1: not allowed")).ref_line(RefLine::horizontal(1.0).label("σ_m^2 = 1"));
    }
    if on_a_line {
        panel = panel.series(Series::line(positive).name("critical line, χ_1 = 1").width(2.5));
    } else if points.is_empty() {
        panel = panel.callout(Callout::text(0.25, 0.5, "no critical initialisation exists"));
    } else {
        for (x, y) in points.iter().map(place) {
            panel = panel.callout(Callout::new(x, y, format!("critical: σ_b^2 = {}", digits(x))));
        }
    }
    Figure::new().title(format!("Critical initialisations: {title}")).panel(panel)
}

/// `χ₁` or `ξ_c` in colours, with the critical line and the limit of what is allowed.
pub fn phase_diagram(
    network: &RandomNetwork,
    diagram: &PhaseDiagram,
    quantity: Quantity,
    critical: &CriticalSet,
    line: &[CriticalPoint],
) -> Result<Figure, CliError> {
    let edges = |values: &[f64]| {
        let half = 0.5 * (values[1] - values[0]);
        (values[0] - half, values[values.len() - 1] + half)
    };
    let (x, y) = (edges(&diagram.x), edges(&diagram.y));
    let values = diagram.cells().iter().map(|cell| {
        let value = match quantity {
            Quantity::Chi1 => cell.chi_1,
            // A diverging depth scale is beyond every limit of the colours.
            Quantity::XiC if cell.chi_1.is_some_and(|chi_1| depth_scale(chi_1).is_none()) => Some(f64::MAX),
            Quantity::XiC => cell.xi_c,
        };
        value.unwrap_or(f64::NAN)
    });
    let map = HeatMap::new(x, y, diagram.x.len(), diagram.y.len(), values.collect())?;
    let map = match quantity {
        Quantity::Chi1 => {
            let finite = diagram.cells().iter().filter_map(|cell| cell.chi_1);
            let highest = finite.fold(0.0, f64::max);
            map.label("slope at c = 1, χ_1")
                .colours(ColourMap::Diverging { centre: 1.0 })
                .limits(0.0, if highest > 1.0 { highest } else { 2.0 })
        }
        Quantity::XiC => map.label("depth scale of correlations, ξ_c (layers)").log10().limits(0.3, 100.0),
    };
    let mut panel = Panel::new(
        Axis::linear(weight_variance_axis(network.model())).range(diagram.x[0], diagram.x[diagram.x.len() - 1]),
        Axis::linear(BIAS_AXIS).range(diagram.y[0], diagram.y[diagram.y.len() - 1]),
    )
    .heat_map(map);
    if !line.is_empty() {
        let points = line.iter().map(|point| (point.sigma2.unwrap_or(f64::NAN), point.sigma_b2));
        panel = panel.series(Series::line(points).name("critical line, χ_1 = 1").colour(Colour::BLACK).width(2.5));
    }
    if let CriticalSet::Points(points) = critical {
        for point in points {
            panel = panel.callout(Callout::new(point.sigma2.unwrap_or(f64::NAN), point.sigma_b2, "critical"));
        }
    }
    if network.model().weight_variance() == WeightVariance::Means && diagram.x[diagram.x.len() - 1] >= 1.0 {
        panel = panel.ref_line(RefLine::vertical(1.0).label("σ_m^2 = 1").colour(Colour::BLACK));
        if diagram.x[diagram.x.len() - 1] > 1.0 {
            panel = panel.region(Region::right_of(1.0).label("not allowed"));
        }
    }
    Ok(Figure::new().title(network_title(network)).panel(panel))
}

/// How deep signals reach as the weight variance changes, with the depth that is wanted.
pub fn reach(title: &str, network: &RandomNetwork, advice: &Advice) -> Result<Figure, CliError> {
    let depth = advice.depth as f64;
    let Some(limit) = advice.best.sigma2 else {
        return Err(CliError::Usage(format!("model {} has no weight variance to draw the reach over; leave --plot out", network.model())));
    };
    let mut curve = Vec::new();
    for sigma2 in linspace(0.0, limit, 401).into_iter().skip(1) {
        let point = Point::of(&network.at(Some(sigma2), advice.best.sigma_b2)?)?;
        let reached = signal_rate(&point).map(|rate| depth_scale(rate).map_or(f64::INFINITY, |xi| advice.reach * xi));
        curve.push((sigma2, reached.unwrap_or(f64::NAN)));
    }
    let highest = curve.iter().map(|point| point.1).filter(|reached| reached.is_finite()).fold(depth, f64::max);
    let top = (1.3 * highest).min(5.0 * depth).max(1.3 * depth);
    let mut panel = Panel::new(
        Axis::linear(weight_variance_axis(network.model())).range(0.0, 1.08 * limit),
        Axis::linear("reach of signals (layers)").range(0.0, top),
    )
    .series(Series::line(curve).name(format!("reach, {} ξ", digits(advice.reach))).width(2.5))
    .ref_line(RefLine::horizontal(depth).label(format!("depth {}", advice.depth)))
    .ref_line(RefLine::vertical(limit).label(format!("best: {}", digits(limit))));
    if let Some(smallest) = advice.smallest.as_ref().and_then(|smallest| smallest.sigma2) {
        panel = panel.callout(Callout::new(smallest, depth, format!("smallest: {}", digits(smallest))));
    }
    Ok(Figure::new().title(format!("How deep signals reach: {title}")).panel(panel))
}

/// What is left of gradient or signal after some layers of carried fields, in colours.
pub fn carried_diagram(
    network: &RandomNetwork,
    diagram: &CarriedDiagram,
    quantity: CarriedQuantity,
    depth: usize,
) -> Result<Figure, CliError> {
    let edges = |values: &[f64]| {
        let half = 0.5 * (values[1] - values[0]);
        (values[0] - half, values[values.len() - 1] + half)
    };
    let value = |cell: &isinglass_lab::phase_diagram::CarriedCell| match quantity {
        CarriedQuantity::Gradient => cell.gradient,
        CarriedQuantity::Signal => cell.signal,
    };
    let values: Vec<f64> = diagram.cells.iter().map(|cell| value(cell).unwrap_or(f64::NAN)).collect();
    let positive = || values.iter().copied().filter(|value| *value > 0.0);
    let (least, most) = (positive().fold(f64::INFINITY, f64::min).max(1e-12), positive().fold(0.0, f64::max));
    let what = match quantity {
        CarriedQuantity::Gradient => "gradient",
        CarriedQuantity::Signal => "signal",
    };
    let map = HeatMap::new(edges(&diagram.x), edges(&diagram.y), diagram.x.len(), diagram.y.len(), values)?
        .label(format!("{what} left after {depth} layers"))
        .log10()
        .limits(least.min(0.9 * most), most);
    let mut panel = Panel::new(
        Axis::linear(weight_variance_axis(network.model())).range(diagram.x[0], diagram.x[diagram.x.len() - 1]),
        Axis::linear(BIAS_AXIS).range(diagram.y[0], diagram.y[diagram.y.len() - 1]),
    )
    .heat_map(map);
    if network.model().weight_variance() == WeightVariance::Means && diagram.x[diagram.x.len() - 1] > 1.0 {
        panel = panel
            .ref_line(RefLine::vertical(1.0).label("σ_m^2 = 1").colour(Colour::BLACK))
            .region(Region::right_of(1.0).label("not allowed"));
    }
    Ok(Figure::new().title(format!("{}, carried fields", network_title(network))).panel(panel))
}

/// What is left of the signal over the depth: carried and plain, at the same variance.
pub fn signal_left(network: &RandomNetwork, advice: &CarriedAdvice) -> Result<Figure, CliError> {
    let field = network.at(advice.carried.sigma2, advice.carried.sigma_b2)?;
    let plain_rate = signal_rate(&Point::of(&field)?).unwrap_or(f64::NAN);
    let mut depths: Vec<usize> = linspace(0.0, (advice.depth as f64).ln(), 40).into_iter().map(|log| log.exp().round() as usize).collect();
    depths.dedup();
    let mut carried = Vec::with_capacity(depths.len());
    for &depth in &depths {
        carried.push((depth as f64, Remains::after(&field, depth)?.signal.unwrap_or(f64::NAN)));
    }
    let lowest = carried.iter().map(|point| point.1).fold((-advice.reach).exp(), f64::min);
    let plain = depths.iter().map(|&depth| (depth as f64, plain_rate.powi(depth as i32))).filter(|point| point.1 > 0.1 * lowest);
    let at = advice.carried.sigma2.map_or(String::new(), |sigma2| format!(", σ^2 = {}", digits(sigma2)));
    let panel = Panel::new(Axis::log10("layers"), Axis::log10("signal left"))
        .series(Series::line(carried).name(format!("carried{at}")).width(2.5))
        .series(Series::line(plain).name("plain").colour(Colour::GREY).dash(Dash::Dashed))
        .ref_line(RefLine::horizontal((-advice.reach).exp()).label(format!("e^{{−{}}}", digits(advice.reach))));
    Ok(Figure::new().title(format!("What is left of a signal: {}", network_title(network))).panel(panel))
}
