//! The pictures of runs: learning curves, and the insides of a network.

use isinglass_chart::{Axis, ChartError, Colour, ColourMap, Dash, Figure, HeatMap, Legend, Marker, Panel, RefLine, Series, plain};
use isinglass_net::{Histogram, LayerDiagnosis, Score};

use super::{Epoch, LayerSummary};

/// Loss and accuracy over the epochs, and when the means are polarised.
pub fn curves(title: &str, epochs: &[Epoch]) -> Figure {
    let curve = |value: &dyn Fn(&Epoch) -> Option<f64>| -> Vec<(f64, f64)> {
        epochs.iter().filter_map(|epoch| Some((epoch.epoch as f64, value(epoch)?))).collect()
    };
    let x = || Axis::whole("epoch");
    // Below the panels, where it covers no point.
    let mut loss = Panel::new(x(), Axis::log10("negative log-likelihood")).legend(Legend::Below);
    let mut accuracy = Panel::new(x(), Axis::linear("accuracy (%)")).legend(Legend::Below);
    let marker = |series: Series| if epochs.len() <= 40 { series.marker(Marker::Circle) } else { series };
    type Of = fn(&Epoch) -> Option<Score>;
    let scores: [(&str, Of, Colour, Dash); 3] = [
        ("training", |epoch| Some(epoch.train), Colour::BLUE, Dash::Solid),
        ("validation", |epoch| epoch.validation, Colour::ORANGE, Dash::Solid),
        ("validation, sign(M)", |epoch| epoch.validation_binary, Colour::VERMILION, Dash::Dashed),
    ];
    for (name, score, colour, dash) in scores {
        let nll = curve(&|epoch| score(epoch).map(|score| score.nll));
        if !nll.is_empty() {
            let drawn = |points| marker(Series::line(points).name(name).colour(colour).dash(dash));
            loss = loss.series(drawn(nll));
            accuracy = accuracy.series(drawn(curve(&|epoch| score(epoch).map(|score| 100.0 * score.accuracy))));
        }
    }
    let beta = curve(&|epoch| Some(epoch.beta));
    let lr = curve(&|epoch| Some(epoch.lr));
    let annealed = beta.iter().find(|(_, beta)| *beta > 1.0).map(|(epoch, _)| *epoch);
    if let Some(epoch) = annealed {
        let line = || RefLine::vertical(epoch - 0.5).label("β rises");
        (loss, accuracy) = (loss.ref_line(line()), accuracy.ref_line(line()));
    }
    // The last step of a cosine has next to no learning rate: that would squeeze all the rest.
    let highest = lr.iter().map(|point| point.1).fold(f64::MIN_POSITIVE, f64::max);
    let top = beta.iter().map(|point| point.1).filter(|_| annealed.is_some()).fold(highest, f64::max);
    let mut schedules = Panel::new(x(), Axis::log10("β and learning rate").range(1e-3 * highest, 2.0 * top)).legend(Legend::Below);
    if annealed.is_some() {
        schedules = schedules.series(marker(Series::line(beta).name("β, of M = f(βθ)").colour(Colour::PURPLE)));
    }
    schedules = schedules.series(marker(Series::line(lr).name("learning rate").colour(Colour::GREEN).dash(Dash::DashDot)));
    Figure::new().title(plain(title)).panel(loss).panel(accuracy).panel(schedules)
}

/// Histograms of means and neurons, and the variance of the fields beside the theory's, layer by layer.
///
/// # Errors
///
/// If there is no layer to draw.
pub fn insides(title: &str, layers: &[LayerSummary]) -> Result<Figure, ChartError> {
    let layers: Vec<&LayerDiagnosis> = layers.iter().map(|layer| &layer.diagnosis).collect();
    let measured: Vec<(f64, f64)> = layers.iter().map(|layer| (layer.layer as f64, layer.field_variance)).collect();
    let spans = measured.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), point| (low.min(point.1), high.max(point.1)));
    let label = "variance of the field";
    let y = if spans.0 > 0.0 && spans.1 > 20.0 * spans.0 { Axis::log10(label) } else { Axis::linear(label) };
    let mut variance = Panel::new(Axis::whole("layer"), y).title("Fields").legend(Legend::Below);
    let predicted: Vec<(f64, f64)> = layers.iter().filter_map(|layer| Some((layer.layer as f64, layer.predicted_variance?))).collect();
    if !predicted.is_empty() {
        variance = variance.series(Series::line(predicted).name("theory").colour(Colour::GREY).dash(Dash::Dashed));
    }
    variance = variance.series(Series::markers(measured).name("measured").colour(Colour::VERMILION));
    let means = histograms(&layers, |layer| Some(&layer.means), "mean", "Means")?;
    let neurons = histograms(&layers, |layer| layer.neurons.as_ref(), "neuron", "Neurons")?;
    Ok(Figure::new().title(plain(title)).panel(means).panel(neurons).panel(variance))
}

/// Few layers as curves, many as a map.
fn histograms(
    layers: &[&LayerDiagnosis],
    histogram: fn(&LayerDiagnosis) -> Option<&Histogram>,
    axis: &str,
    title: &str,
) -> Result<Panel, ChartError> {
    const CURVES: usize = 5;
    let fractions = |histogram: &Histogram| -> Vec<f64> {
        let total = histogram.counts.iter().sum::<u64>().max(1) as f64;
        histogram.counts.iter().map(|&count| count as f64 / total).collect()
    };
    let rows: Vec<(usize, Vec<f64>)> = layers.iter().filter_map(|layer| Some((layer.layer, fractions(histogram(layer)?)))).collect();
    let bins = rows.first().map_or(1, |(_, row)| row.len());
    if rows.len() <= CURVES {
        let mut panel = Panel::new(Axis::linear(axis).range(-1.03, 1.03), Axis::linear("fraction")).title(title).legend(Legend::Below);
        for (layer, row) in &rows {
            panel = panel.series(Series::line(steps(row)).name(format!("layer {layer}")));
        }
        return Ok(panel);
    }
    let first = rows[0].0 as f64;
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
