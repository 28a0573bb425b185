//! The pictures of runs: learning curves, and the insides of a network.

use isinglass_chart::{Axis, ChartError, Colour, ColourMap, Dash, Figure, HeatMap, Legend, Marker, Panel, RefLine, Series, plain};
use serde_json::Value;

/// Loss and accuracy over the epochs, and when the means are polarised. The summary is that of the run, or as much of it as there is.
pub fn curves(summary: &Value, metrics: &[Value]) -> Figure {
    let epochs: Vec<&Value> = metrics.iter().filter(|line| line["kind"] == "epoch").collect();
    let curve = |pointer: &str, scale: f64| -> Vec<(f64, f64)> {
        let at = |line: &&Value| Some((line["epoch"].as_f64()?, scale * line.pointer(pointer)?.as_f64()?));
        epochs.iter().filter_map(at).collect()
    };
    let x = || Axis::whole("epoch");
    let mut loss = Panel::new(x(), Axis::log10("negative log-likelihood"));
    let mut accuracy = Panel::new(x(), Axis::linear("accuracy (%)"));
    let marker = |series: Series| if epochs.len() <= 40 { series.marker(Marker::Circle) } else { series };
    for (name, key, colour, dash) in [
        ("training", "train", Colour::BLUE, Dash::Solid),
        ("validation", "validation", Colour::ORANGE, Dash::Solid),
        ("validation, sign(M)", "validation_binary", Colour::VERMILION, Dash::Dashed),
    ] {
        let nll = curve(&format!("/{key}/nll"), 1.0);
        if !nll.is_empty() {
            let drawn = |points| marker(Series::line(points).name(name).colour(colour).dash(dash));
            loss = loss.series(drawn(nll));
            accuracy = accuracy.series(drawn(curve(&format!("/{key}/accuracy"), 100.0)));
        }
    }
    let beta = curve("/beta", 1.0);
    let lr = curve("/lr", 1.0);
    let annealed = beta.iter().find(|(_, beta)| *beta > 1.0).map(|(epoch, _)| *epoch);
    if let Some(epoch) = annealed {
        let line = || RefLine::vertical(epoch - 0.5).label("β rises");
        (loss, accuracy) = (loss.ref_line(line()), accuracy.ref_line(line()));
    }
    // The last step of a cosine has next to no learning rate: that would squeeze all the rest.
    let highest = lr.iter().map(|point| point.1).fold(f64::MIN_POSITIVE, f64::max);
    let top = beta.iter().map(|point| point.1).filter(|_| annealed.is_some()).fold(highest, f64::max);
    let mut schedules = Panel::new(x(), Axis::log10("β and learning rate").range(1e-3 * highest, 2.0 * top));
    if annealed.is_some() {
        schedules = schedules.series(Series::line(beta).name("β, of M = f(βθ)").colour(Colour::PURPLE));
    }
    schedules = schedules.series(Series::line(lr).name("learning rate").colour(Colour::GREEN).dash(Dash::DashDot));
    Figure::new().title(title(summary)).panel(loss).panel(accuracy).panel(schedules)
}

/// Histograms of means and neurons, and the variance of the fields beside the theory's, layer by layer: of the summary of a run, or an [`Inspection`](super::Inspection) as JSON.
///
/// # Errors
///
/// If there is no layer to draw.
pub fn insides(result: &Value) -> Result<Figure, ChartError> {
    let layers: Vec<&Value> = result["layers"].as_array().into_iter().flatten().collect();
    let by_layer = |key: &str| -> Vec<(f64, f64)> {
        layers.iter().filter_map(|layer| Some((layer["layer"].as_f64()?, layer[key].as_f64()?))).collect()
    };
    let measured = by_layer("field_variance");
    let spans = measured.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), point| (low.min(point.1), high.max(point.1)));
    let label = "variance of the field";
    let y = if spans.0 > 0.0 && spans.1 > 20.0 * spans.0 { Axis::log10(label) } else { Axis::linear(label) };
    let mut variance = Panel::new(Axis::whole("layer"), y).title("Fields").legend(Legend::Below);
    let predicted = by_layer("predicted_variance");
    if !predicted.is_empty() {
        variance = variance.series(Series::line(predicted).name("theory").colour(Colour::GREY).dash(Dash::Dashed));
    }
    variance = variance.series(Series::markers(measured).name("measured").colour(Colour::VERMILION));
    let means = histograms(&layers, "means", "mean", "Means")?;
    let neurons = histograms(&layers, "neurons", "neuron", "Neurons")?;
    Ok(Figure::new().title(title(result)).panel(means).panel(neurons).panel(variance))
}

/// Few layers as curves, many as a map.
fn histograms(layers: &[&Value], key: &str, axis: &str, title: &str) -> Result<Panel, ChartError> {
    const CURVES: usize = 5;
    let fractions = |layer: &Value| -> Option<Vec<f64>> {
        let counts: Vec<f64> = layer[key]["counts"].as_array()?.iter().filter_map(Value::as_f64).collect();
        let total: f64 = counts.iter().sum();
        Some(counts.iter().map(|count| count / total.max(1.0)).collect())
    };
    let rows: Vec<(&Value, Vec<f64>)> = layers.iter().filter_map(|layer| Some((&layer["layer"], fractions(layer)?))).collect();
    let bins = rows.first().map_or(1, |(_, row)| row.len());
    if rows.len() <= CURVES {
        let mut panel = Panel::new(Axis::linear(axis).range(-1.03, 1.03), Axis::linear("fraction")).title(title).legend(Legend::Below);
        for (layer, row) in &rows {
            panel = panel.series(Series::line(steps(row)).name(format!("layer {layer}")));
        }
        return Ok(panel);
    }
    let first = rows[0].0.as_f64().unwrap_or(1.0);
    let last = first + rows.len() as f64;
    // A bin without a single mean is grey, not the lowest colour.
    let values = rows.iter().flat_map(|(_, row)| row).map(|part| if *part > 0.0 { *part } else { f64::NAN }).collect();
    let map = HeatMap::new((-1.0, 1.0), (first - 0.5, last - 0.5), bins, rows.len(), values)?;
    let map = map.log10().limits(1e-4, 1.0).colours(ColourMap::Sequential).label("fraction");
    Ok(Panel::new(Axis::linear(axis), Axis::whole("layer")).title(title).heat_map(map))
}

/// The outline of a histogram from −1 to 1.
fn steps(row: &[f64]) -> Vec<(f64, f64)> {
    let edge = |i: usize| -1.0 + 2.0 * i as f64 / row.len() as f64;
    let mut points = vec![(-1.0, 0.0)];
    points.extend(row.iter().enumerate().flat_map(|(i, part)| [(edge(i), *part), (edge(i + 1), *part)]));
    points.push((1.0, 0.0));
    points
}

fn title(result: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let network = &result["network"];
    let mut title = format!("{}, {}, {}", text(&network["shape"]), text(&network["surrogate"]), text(&network["neuron"]));
    if let Some(data) = result["data"].as_str() {
        title = format!("{data}: {title}");
    }
    plain(&title)
}
