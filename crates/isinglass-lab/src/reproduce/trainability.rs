//! Figure 2: which networks train, and their binary counterparts. Figure 5: the same for other neurons.

use serde_json::Value;

use super::ReproduceError;
use super::grids::{LRT_BINARY, LRT_CONTINUOUS, Plane, SIGN, SUPERCRITICAL, UNIT_GAIN};
use super::output::{Output, rounded, row};
use super::plane::{Bound, PlaneResults, Reached, TRAINED, table};
use super::record::{FigureRecord, Table, Verdict};
use super::results::{ACCURACY, rank_correlation};
use super::study::{Study, Subject};
use crate::chart::Figure;
use crate::sweep::Sweep;

/// The curves over the maps, in depth scales.
const SCALES: [f64; 2] = [3.0, 6.0];

const CAPTION_2: &str = "Top: training accuracy of the surrogates after ten epochs, over depth and σ_m², with three and six depth scales ξ of the theory over it. \
    Bottom: after five epochs, the surrogate beside stochastic binary networks drawn from its means (averaged over 1, 5 and 100 of them), and the deterministic binary network sign(M).\n\n\
    As in the paper: half of MNIST at paper scale, Adam, batches of 64, σ_b² = 0, no batch norm, means clipped to [−1, 1]. Our choice: the unit gain tanh(h), the only deterministic surrogate whose depth scale diverges; \
    the width; means ±σ_m; depths from 2 for the counterparts. docs/experiments.md lists what quick and paper scale differ in.";

const CAPTION_5: &str = "The grid of Figure 2 for four neurons, which differ in nothing but φ and its scale: the exact sign neuron, the unit gain tanh(h), a supercritical gain tanh(1.5 h), \
    and LRT with binary (logistic) neurons. The paper says of all of them that σ_m² → 1 is critical; the theory, with its misprints corrected, says so of the unit gain alone.";

/// One panel of a figure, and where its sweep is.
pub(super) fn open(study: &Study, plane: Plane) -> Result<PlaneResults, ReproduceError> {
    PlaneResults::open(&study.sweep_directory(plane.name), plane)
}

pub(super) fn figure_2(study: &Study) -> Result<FigureRecord, ReproduceError> {
    let mut output = Output::new(study, Subject::Fig2, CAPTION_2)?;
    let mut figure = Figure::new().title("Training accuracy after 10 epochs");
    let mut tables = Vec::new();
    for (plane, letter, name) in
        [(UNIT_GAIN, "a", "deterministic surrogate, tanh:1"), (LRT_CONTINUOUS, "b", "LRT, continuous neurons, tanh:1")]
    {
        let results = open(study, plane)?;
        figure = figure.panel(results.panel(&format!("({letter}) {name}"), ACCURACY, &SCALES)?);
        tables.push((name, results.reached(ACCURACY)?, results.results.failed()));
    }
    output.picture(
        "surrogates",
        &figure.size(1200, 560),
        "Training accuracy of the surrogates, and three and six depth scales of the theory.",
    )?;
    for (name, reached, failed) in &tables {
        output.table(table(&format!("Depth to which networks train (training accuracy of {:.0} %): {name}", 100.0 * TRAINED), reached));
        follows_the_scale(&mut output, name, reached, *failed);
    }
    for (name, reached, _) in &tables {
        three_scales(&mut output, name, reached);
    }
    super::counterparts::add(study, &mut output)?;
    describe(study, &mut output, UNIT_GAIN.name)?;
    output.finish()
}

fn follows_the_scale(output: &mut Output, name: &str, reached: &[Reached], (failed, cells): (usize, usize)) {
    let depth: Vec<f64> = reached.iter().map(|one| one.depth).collect();
    let scale: Vec<f64> = reached.iter().map(|one| one.xi.unwrap_or(f64::INFINITY)).collect();
    let correlation = rank_correlation(&depth, &scale);
    let verdict = match correlation {
        None => Verdict::NotDecided,
        Some(r) if r >= 0.8 => Verdict::Holds,
        Some(r) if r >= 0.4 => Verdict::HoldsInPart,
        Some(_) => Verdict::DoesNotHold,
    };
    let failures = if failed > 0 { format!(" {failed} of {cells} cells failed.") } else { String::new() };
    let evidence = match (correlation, reached.first(), reached.last()) {
        (Some(r), Some(first), Some(last)) => format!(
            "Rank correlation of ξ and the depth to which networks train: {r:.2} over {} values of σ_m²; from depth {} at σ_m² = {} to {} at {}.{failures}",
            reached.len(),
            words(first),
            first.sigma_m2,
            words(last),
            last.sigma_m2
        ),
        _ => format!("The depth to which networks train is the same for every σ_m² of the grid.{failures}"),
    };
    output.claim(&format!("Trainable depth follows the correlation depth scale, and is largest as σ_m² → 1 ({name})."), verdict, evidence);
}

fn three_scales(output: &mut Output, name: &str, reached: &[Reached]) {
    let mut ratios: Vec<f64> = reached
        .iter()
        .filter(|one| one.bound == Bound::Within)
        .filter_map(|one| Some(one.depth / one.xi?))
        .filter(|ratio| ratio.is_finite())
        .collect();
    ratios.sort_by(f64::total_cmp);
    let claim = format!("About 3ξ is the depth beyond which training becomes difficult ({name}).");
    let Some(&median) = ratios.get(ratios.len() / 2) else {
        return output.claim(&claim, Verdict::NotDecided, "No column of the grid changes from trained to untrained within it.".into());
    };
    let (least, most) = (ratios[0], ratios[ratios.len() - 1]);
    let verdict = match median {
        r if (2.0..=4.5).contains(&r) && least >= 1.0 && most <= 9.0 => Verdict::Holds,
        r if (1.5..=9.0).contains(&r) => Verdict::HoldsInPart,
        _ => Verdict::DoesNotHold,
    };
    let evidence = format!(
        "Where training accuracy falls below {:.0} % within the grid ({} values of σ_m²) it does so at {least:.1}ξ to {most:.1}ξ, median {median:.1}ξ.",
        100.0 * TRAINED,
        ratios.len()
    );
    output.claim(&claim, verdict, evidence);
}

fn words(reached: &Reached) -> String {
    match reached.bound {
        Bound::Within => format!("{:.0}", reached.depth),
        Bound::Below => format!("below {:.0}", reached.depth),
        Bound::Beyond => format!("beyond {:.0}", reached.depth),
    }
}

/// The settings of a sweep, as they were run.
pub(super) fn describe(study: &Study, output: &mut Output, sweep: &str) -> Result<(), ReproduceError> {
    let sweep = Sweep::open(&study.sweep_directory(sweep))?;
    if let Some(cell) = sweep.cells().first() {
        for key in
            ["data", "train-fraction", "width", "init", "sigma-b2", "goal", "means", "optimizer", "lr", "schedule", "batch", "epochs"]
        {
            let is_axis = cell.axes.iter().any(|(axis, _)| axis == key);
            if let Some(value) = cell.config.to_json().get(key).filter(|_| !is_axis) {
                output.setting(key, value.clone());
            }
        }
    }
    let mut seeds: Vec<u64> = sweep.cells().iter().map(|cell| cell.config.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    output.seeds(seeds);
    Ok(())
}

pub(super) fn figure_5(study: &Study) -> Result<FigureRecord, ReproduceError> {
    let mut output = Output::new(study, Subject::Fig5, CAPTION_5)?;
    let planes = [
        (SIGN, "(a) sign, exact", "the exact sign neuron"),
        (UNIT_GAIN, "(b) tanh:1, unit gain", "the unit gain tanh:1"),
        (SUPERCRITICAL, "(c) tanh:1.5, supercritical", "the supercritical gain tanh:1.5"),
        (LRT_BINARY, "(d) LRT, binary neurons", "LRT with binary neurons"),
    ];
    let mut rows = [
        Figure::new().title("Training accuracy after 10 epochs: real neurons and chosen gains"),
        Figure::new().title("A supercritical gain, and LRT with binary neurons"),
    ];
    let columns = ["network", "best σ_m² (mean accuracy)", "deepest at σ_m²", "trained to depth there", "theory: longest ξ", "at σ_m²"];
    let mut summary = Table {
        title: "Where networks train best, and where the theory expects it".into(),
        columns: columns.map(Into::into).into(),
        rows: Vec::new(),
    };
    for (index, (plane, title, name)) in planes.into_iter().enumerate() {
        let results = open(study, plane)?;
        let row_of = &mut rows[index / 2];
        *row_of = std::mem::take(row_of).panel(results.panel(title, ACCURACY, &SCALES)?);
        let reached = results.reached(ACCURACY)?;
        summary.rows.push(summarise(name, &results, &reached));
        near_one_is_best(&mut output, name, &results, &reached);
        output.table(table(&format!("Depth to which networks train (training accuracy of {:.0} %): {name}", 100.0 * TRAINED), &reached));
    }
    let [first, second] = rows;
    output.picture("gains", &first.size(1200, 560), "The exact sign neuron beside the unit gain.")?;
    output.picture("others", &second.size(1200, 560), "Beyond σ_m² = 0.444 the supercritical gain is chaotic: ξ is there the scale on which signals move apart. LRT with binary neurons has no critical point.")?;
    output.table(summary);
    describe(study, &mut output, SIGN.name)?;
    output.finish()
}

fn best(values: &[(f64, f64)]) -> Option<(f64, f64)> {
    values.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1))
}

fn summarise(name: &str, results: &PlaneResults, reached: &[Reached]) -> Vec<Value> {
    let best = best(&results.by_variance(ACCURACY));
    let deepest = reached.iter().max_by(|a, b| a.depth.total_cmp(&b.depth));
    let longest = reached.iter().max_by(|a, b| a.xi.unwrap_or(f64::INFINITY).total_cmp(&b.xi.unwrap_or(f64::INFINITY)));
    row([
        name.into(),
        best.map_or(Value::Null, |(sigma_m2, _)| sigma_m2.into()),
        deepest.map_or(Value::Null, |one| one.sigma_m2.into()),
        deepest.map_or(Value::Null, |one| words(one).into()),
        longest.map_or(Value::Null, |one| one.xi.map_or("∞".into(), |xi| rounded(xi, 1))),
        longest.map_or(Value::Null, |one| one.sigma_m2.into()),
    ])
}

/// The paper's advice, neuron by neuron.
fn near_one_is_best(output: &mut Output, name: &str, results: &PlaneResults, reached: &[Reached]) {
    let claim = format!("Means close to ±1 (σ_m² → 1) are critical, and let deep networks train: {name}.");
    let by_variance = results.by_variance(ACCURACY);
    let at_one = reached.iter().rev().find(|one| one.sigma_m2 == results.largest_variance());
    let (Some((best_at, best)), Some(at_one), Some((_, accuracy))) = (best(&by_variance), at_one, by_variance.last().copied()) else {
        return output.claim(&claim, Verdict::NotDecided, "There are no results.".into());
    };
    let is_best = best - accuracy < 0.05;
    let is_deep = at_one.bound == Bound::Beyond || at_one.depth > 0.5 * results.deepest();
    let verdict = match (is_best, is_deep) {
        (true, true) => Verdict::Holds,
        (false, false) => Verdict::DoesNotHold,
        _ => Verdict::HoldsInPart,
    };
    let scale = at_one.xi.map_or("diverges".to_owned(), |xi| format!("is {xi:.1} layers"));
    let evidence = format!(
        "At σ_m² = {} networks train to depth {} (mean accuracy over all depths {:.0} %), and ξ {scale}; the best mean accuracy, {:.0} %, is at σ_m² = {best_at}.",
        at_one.sigma_m2,
        words(at_one),
        100.0 * accuracy,
        100.0 * best
    );
    output.claim(&claim, verdict, evidence);
}
