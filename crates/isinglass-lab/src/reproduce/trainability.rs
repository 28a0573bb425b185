//! Figure 2: which networks train, and their binary counterparts. Figure 5: the same for other neurons.

use serde_json::Value;

use super::ReproduceError;
use super::grids::{LRT_BINARY, LRT_CONTINUOUS, Plane, SIGN, SUPERCRITICAL, UNIT_GAIN};
use super::output::{Output, row};
use super::plane::{PlaneResults, Reached, TRAINED, scale_text, table};
use super::record::{FigureRecord, Table};
use super::results::SURROGATE;
use super::rules::plane::{follows_the_scale, near_one_is_best, three_scales};
use super::study::{Study, Subject};
use isinglass_chart::Figure;

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
    let mut figure = Figure::new();
    let mut all = Vec::new();
    for (plane, letter, name) in
        [(UNIT_GAIN, "a", "deterministic surrogate, tanh:1"), (LRT_CONTINUOUS, "b", "LRT, continuous neurons, tanh:1")]
    {
        let results = open(study, plane)?;
        let panel = results.panel(&format!("({letter}) {name}"), SURROGATE, &SCALES)?;
        figure = figure.title(format!("Training accuracy after {} epochs", results.epochs())).panel(panel);
        output.describe(&results.sweep, &results.results);
        all.push((name, results.reached(SURROGATE)?));
    }
    let caption = "Training accuracy of the surrogates, and three and six depth scales of the theory.";
    output.picture("surrogates", &figure.size(960, 500), caption)?;
    for (name, reached) in &all {
        output.table(table(&depth_title(name), reached));
        let claim = format!("Trainable depth follows the correlation depth scale, and is largest as σ_m² → 1 ({name}).");
        output.claim(&claim, follows_the_scale(reached));
    }
    for (name, reached) in &all {
        output.claim(&format!("About 3ξ is the depth beyond which training becomes difficult ({name})."), three_scales(reached));
    }
    super::counterparts::add(study, &mut output)?;
    output.finish()
}

fn depth_title(name: &str) -> String {
    format!("Depth to which networks train (training accuracy of {:.0} %): {name}", 100.0 * TRAINED)
}

pub(super) fn figure_5(study: &Study) -> Result<FigureRecord, ReproduceError> {
    let mut output = Output::new(study, Subject::Fig5, CAPTION_5)?;
    let planes = [
        (SIGN, "(a) sign, exact", "the exact sign neuron"),
        (UNIT_GAIN, "(b) tanh:1, unit gain", "the unit gain tanh:1"),
        (SUPERCRITICAL, "(c) tanh:1.5, supercritical", "the supercritical gain tanh:1.5"),
        (LRT_BINARY, "(d) LRT, binary neurons", "LRT with binary neurons"),
    ];
    let mut figures = [
        Figure::new().title("The exact sign neuron, and unit gain"),
        Figure::new().title("A supercritical gain, and LRT with binary neurons"),
    ];
    let columns = ["network", "best σ_m² (mean accuracy)", "deepest at σ_m²", "trained to depth there", "theory: longest ξ", "at σ_m²"];
    let title = "Where networks train best, and where the theory expects it";
    let mut summary = Table { title: title.into(), columns: columns.map(Into::into).into(), rows: Vec::new() };
    for (index, (plane, title, name)) in planes.into_iter().enumerate() {
        let results = open(study, plane)?;
        let figure = &mut figures[index / 2];
        *figure = std::mem::take(figure).panel(results.panel(title, SURROGATE, &SCALES)?);
        output.describe(&results.sweep, &results.results);
        let (reached, means) = (results.reached(SURROGATE)?, results.by_variance(SURROGATE));
        summary.rows.push(summarise(name, &results, &reached));
        let claim = format!("Means close to ±1 (σ_m² → 1) are the best, and let deep networks train: {name}.");
        output.claim(&claim, near_one_is_best(&reached, &means, results.deepest()));
        output.table(table(&depth_title(name), &reached));
    }
    let [first, second] = figures;
    output.picture("gains", &first.size(960, 500), "The exact sign neuron beside the unit gain.")?;
    let caption = "Beyond σ_m² = 0.444 the supercritical gain is chaotic: ξ is there the scale on which signals move apart. LRT with binary neurons has no critical point.";
    output.picture("others", &second.size(960, 500), caption)?;
    output.table(summary);
    output.finish()
}

fn summarise(name: &str, results: &PlaneResults, reached: &[Reached]) -> Vec<Value> {
    let means = results.sigma_m2().iter().filter_map(|&sigma_m2| Some((sigma_m2, results.mean_at(sigma_m2, SURROGATE)?)));
    let best = means.max_by(|a, b| a.1.total_cmp(&b.1));
    let depths = reached.iter().filter_map(|one| Some((one.sigma_m2, one.typical()?)));
    let deepest = depths.max_by(|a, b| a.1.value().total_cmp(&b.1.value()));
    let longest = reached.iter().filter_map(|one| Some((one.sigma_m2, one.xi?))).max_by(|a, b| a.1.total_cmp(&b.1));
    row([
        name.into(),
        best.map_or(Value::Null, |(sigma_m2, _)| sigma_m2.into()),
        deepest.map_or(Value::Null, |(sigma_m2, _)| sigma_m2.into()),
        deepest.map_or(Value::Null, |(_, depth)| depth.to_string().into()),
        longest.map_or(Value::Null, |(_, xi)| scale_text(xi)),
        longest.map_or(Value::Null, |(sigma_m2, _)| sigma_m2.into()),
    ])
}
