//! The bottom of Figure 2: surrogates and the binary networks behind them.

use serde_json::Value;

use super::ReproduceError;
use super::grids::{COUNTERPARTS, Plane, UNIT_GAIN};
use super::output::{Output, rounded};
use super::record::{Table, Verdict};
use super::results::ACCURACY;
use super::study::Study;
use super::trainability::open;
use crate::chart::Figure;

/// Adds the bottom of Figure 2.
pub(super) fn add(study: &Study, output: &mut Output) -> Result<(), ReproduceError> {
    let plane = Plane { name: COUNTERPARTS, ..UNIT_GAIN };
    let results = open(study, plane)?;
    let panels = [
        ("(c) surrogate", ACCURACY),
        ("(d) stochastic binary, 5 samples", "train_stochastic_5_accuracy"),
        ("(e) stochastic binary, 100 samples", "train_stochastic_100_accuracy"),
        ("(f) stochastic binary, 1 sample", "train_stochastic_1_accuracy"),
        ("(g) deterministic binary, sign(M)", "train_binary_accuracy"),
    ];
    let mut sampled = Figure::new().title("Training accuracy after 5 epochs: the surrogate and its stochastic binary networks");
    let mut single = Figure::new().title("One sample beside the deterministic binary network");
    for (index, (title, column)) in panels.into_iter().enumerate() {
        let panel = results.panel(title, column, &[])?;
        if index < 3 {
            sampled = sampled.panel(panel);
        } else {
            single = single.panel(panel);
        }
    }
    output.picture("counterparts", &sampled.size(1500, 460), "The surrogate and stochastic binary networks, by the number of samples.")?;
    output.picture("deterministic", &single.size(1040, 460), "One stochastic binary network beside the deterministic one, sign(M).")?;
    let distance = |column: &str, other: &str| results.results.distance(column, other).unwrap_or(f64::NAN);
    let gap = [1, 5, 100].map(|samples| distance(ACCURACY, &format!("train_stochastic_{samples}_accuracy")));
    let verdict = if gap[2] < gap[1] - 0.005 && gap[1] < gap[0] - 0.005 {
        Verdict::Holds
    } else if gap[2] < gap[0] {
        Verdict::HoldsInPart
    } else {
        Verdict::DoesNotHold
    };
    let percent = |x: f64| format!("{:.1} %", 100.0 * x);
    output.claim(
        "Stochastic binary networks match the surrogate more closely as the number of samples increases.",
        verdict,
        format!(
            "Mean distance of training accuracies: {} with 1 sample, {} with 5, {} with 100.",
            percent(gap[0]),
            percent(gap[1]),
            percent(gap[2])
        ),
    );
    let alike = distance("train_binary_accuracy", "train_stochastic_1_accuracy");
    let verdict = match alike {
        d if d < 0.05 => Verdict::Holds,
        d if d < 0.15 => Verdict::HoldsInPart,
        _ => Verdict::DoesNotHold,
    };
    let by_variance = |column: &str| results.by_variance(column);
    let (binary, single, flips) =
        (by_variance("train_binary_accuracy"), by_variance("train_stochastic_1_accuracy"), by_variance("flip_ratio"));
    let rows: Vec<(f64, [f64; 3])> = binary.iter().zip(&single).zip(&flips).map(|((b, s), f)| (b.0, [b.1, s.1, f.1])).collect();
    let at = |(sigma_m2, [binary, single, flips]): &(f64, [f64; 3])| {
        format!(
            "at σ_m² = {sigma_m2} sign(M) has {}, one sample {}, and {} of the weights have changed sign",
            percent(*binary),
            percent(*single),
            percent(*flips)
        )
    };
    let ends: Vec<String> = [rows.first(), rows.last()].into_iter().flatten().map(at).collect();
    let evidence = format!(
        "Mean distance {}: {}. Where signs do not change, sign(M) is the random network of the beginning.",
        percent(alike),
        ends.join("; ")
    );
    output.claim("The deterministic binary network does about as well as a single sample.", verdict, evidence);
    let columns = ["σ_m²", "surrogate", "100 samples", "5 samples", "1 sample", "sign(M)"];
    let keys =
        [ACCURACY, "train_stochastic_100_accuracy", "train_stochastic_5_accuracy", "train_stochastic_1_accuracy", "train_binary_accuracy"];
    let mut table =
        Table { title: "Training accuracy, mean over all depths".into(), columns: columns.map(Into::into).into(), rows: Vec::new() };
    let means = keys.map(by_variance);
    for (index, (sigma_m2, _)) in means[0].iter().enumerate() {
        let cells = means.iter().map(|mean| mean.get(index).map_or(Value::Null, |(_, value)| rounded(*value, 3)));
        table.rows.push(std::iter::once(Value::from(*sigma_m2)).chain(cells).collect());
    }
    output.table(table);
    Ok(())
}
