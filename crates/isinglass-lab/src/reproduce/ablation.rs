//! What each kind of regularisation is worth: a table of binary accuracies, validation and test apart.

use serde_json::Value;

use super::ReproduceError;
use super::grids::ablation::{ADVERSARIAL, ENSEMBLE, INPUT_DROPOUT, LARGE_TAU, Line, NONE, lines};
use super::judgement::{PerSeed, Undecided};
use super::output::{Output, rounded, row};
use super::record::{FigureRecord, Table};
use super::results::{Column, Part, Results};
use super::rules::comparison::is_better;
use super::spread::Spread;
use super::study::{Study, Subject};
use isinglass_chart::{Axis, Colour, Dash, Figure, Legend, Look, Marker, Panel, RefLine, Series};
use isinglass_runs::sweep::Sweep;

const CAPTION: &str = "One network, regularised in one way after another. All lines but the last are the accuracy of the binary network sign(M) at the end of training; the last is an ensemble: 100 binary \
    networks drawn from the means of a surrogate that is not polarised, their probabilities averaged. Validation images are held out of the training images; settings are to be chosen by them, and the test \
    accuracy is to be reported.";

/// One line of the table: a value for every seed.
struct Worth {
    line: Line,
    seeds: Vec<u64>,
    train: PerSeed<f64>,
    validation: PerSeed<f64>,
    test: PerSeed<f64>,
}

impl Worth {
    fn of(line: Line, results: &Results) -> Self {
        let accuracy = |part: Part| results.all().per_seed(|cells| cells.mean(Column::accuracy(part, line.network)));
        let (train, validation, test) = (accuracy(Part::Train), accuracy(Part::Validation), accuracy(Part::Test));
        Self { seeds: results.all().seeds(), train, validation, test, line }
    }
}

pub(super) fn make(study: &Study) -> Result<FigureRecord, ReproduceError> {
    let mut output = Output::new(study, Subject::Ablation, CAPTION)?;
    let mut all = Vec::new();
    for line in lines(study.scale) {
        let sweep = Sweep::open(&study.sweep_directory(line.sweep))?;
        let results = Results::of(&sweep)?;
        output.describe(&sweep, &results);
        if let Some(cell) = sweep.cells().first() {
            output.setting("hidden", cell.config.hidden_layers());
            output.setting("validation", rounded(cell.config.validation, 4));
        }
        all.push(Worth::of(line, &results));
    }
    let caption = "Markers are seeds; bars their means, and one standard deviation to either side. Dashed: the mean test accuracy without regularisation.";
    output.picture("ablation", &picture(&all), caption)?;
    output.table(table(&all));
    output.data("ablation", &data(&all))?;
    claims(&mut output, &all);
    output.finish()
}

/// `None` if cells are missing.
fn spread(values: &PerSeed<f64>) -> Option<Spread> {
    Spread::of(values.as_deref().ok()?)
}

fn table(all: &[Worth]) -> Table {
    let columns = ["regularisation", "training accuracy", "validation accuracy", "test accuracy", "seeds"];
    let text = |values: &PerSeed<f64>| spread(values).map_or(Value::Null, |spread| spread.percent().into());
    let line = |worth: &Worth| {
        row([worth.line.name.clone().into(), text(&worth.train), text(&worth.validation), text(&worth.test), worth.seeds.len().into()])
    };
    let title = "Accuracy, mean ± standard deviation over seeds";
    Table { title: title.into(), columns: columns.map(Into::into).into(), rows: all.iter().map(line).collect() }
}

fn data(all: &[Worth]) -> Table {
    let columns = ["regularisation", "seed", "train_accuracy", "validation_accuracy", "test_accuracy"];
    let mut rows = Vec::new();
    for worth in all {
        for (index, &seed) in worth.seeds.iter().enumerate() {
            let at = |values: &PerSeed<f64>| {
                values.as_ref().ok().and_then(|values| values.get(index)).map_or(Value::Null, |&value| value.into())
            };
            rows.push(row([worth.line.name.clone().into(), seed.into(), at(&worth.train), at(&worth.validation), at(&worth.test)]));
        }
    }
    Table { title: String::new(), columns: columns.map(Into::into).into(), rows }
}

fn claims(output: &mut Output, all: &[Worth]) {
    let none = Err(Undecided("There are no results.".into()));
    let test = |sweep: &str| all.iter().find(|worth| worth.line.sweep == sweep).map_or(&none, |worth| &worth.test);
    output.claim("Input dropout improves the binary network.", is_better(test(INPUT_DROPOUT), test(NONE)));
    output.claim("With input dropout, larger logits (τ = 3) improve it further.", is_better(test(LARGE_TAU), test(INPUT_DROPOUT)));
    output.claim("Adversarial examples improve the binary network.", is_better(test(ADVERSARIAL), test(NONE)));
    output.claim("An ensemble of 100 draws is better than the one network sign(M).", is_better(test(ENSEMBLE), test(NONE)));
}

fn picture(all: &[Worth]) -> Figure {
    // The first line is the uppermost.
    let names: Vec<&str> = all.iter().rev().map(|worth| worth.line.name.as_str()).collect();
    let mut panel = Panel::new(Axis::linear("accuracy / %"), Axis::listed("", names)).legend(Legend::Below);
    if let Some(base) = all.first().and_then(|worth| spread(&worth.test)) {
        panel = panel.ref_line(RefLine::vertical(100.0 * base.mean));
    }
    let kinds = [
        (Look { colour: Colour::BLUE, dash: Dash::Solid, marker: Marker::Circle }, "test", 0.18),
        (Look { colour: Colour::ORANGE, dash: Dash::Solid, marker: Marker::Diamond }, "validation", -0.18),
    ];
    for (look, name, offset) in kinds {
        for (index, worth) in all.iter().enumerate() {
            let y = (all.len() - index) as f64 + offset;
            let values = if name == "test" { &worth.test } else { &worth.validation };
            let (Some(spread), Ok(values)) = (spread(values), values) else { continue };
            let (mean, sd) = (100.0 * spread.mean, 100.0 * spread.sd.unwrap_or(0.0));
            panel = panel
                .series(Series::line([(mean - sd, y), (mean + sd, y)]).colour(look.colour).width(2.0))
                .series(Series::line([(mean, y - 0.17), (mean, y + 0.17)]).colour(look.colour).width(3.0))
                .series(look.markers(values.iter().map(|value| (100.0 * value, y))));
        }
        panel = panel.series(look.markers([(f64::NAN, f64::NAN)]).name(name));
    }
    Figure::new().title("Regularisation: accuracy of the binary network").panel(panel).size(760, 120 + 44 * all.len() as u32)
}
