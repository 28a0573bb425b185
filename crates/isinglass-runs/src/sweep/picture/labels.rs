//! What axes and columns are called in a picture.

use isinglass_chart::plain;

/// The label of an axis, in the markup of charts: a symbol where the field has one, else the flag's name.
pub fn axis_label(axis: &str) -> String {
    match axis {
        "depth" => "depth L".into(),
        "width" => "width N".into(),
        "sigma-m2" => "σ_m^2".into(),
        "sigma-w2" => "σ_w^2".into(),
        "sigma-b2" => "σ_b^2".into(),
        "tau" => "τ".into(),
        "beta" => "β".into(),
        "lr" => "learning rate".into(),
        "batch" => "batch size".into(),
        "train-fraction" => "part of the training data".into(),
        other => plain(other),
    }
}

/// The label of a column, in the markup of charts: `test accuracy of the surrogate`.
pub fn column_label(column: &str) -> String {
    score_label(column).unwrap_or_else(|| match column {
        "best_epoch" => "best epoch".into(),
        "polarised" => "part of means beyond ±0.9".into(),
        "flip_ratio" => "part of weights that changed sign".into(),
        "run_seconds" => "seconds".into(),
        other => plain(other),
    })
}

fn score_label(column: &str) -> Option<String> {
    let (part, rest) = column.split_once('_')?;
    let part = match part {
        "train" => "training",
        "test" | "validation" => part,
        _ => return None,
    };
    let (network, score) = rest.rsplit_once('_')?;
    let score = match score {
        "accuracy" => "accuracy",
        "nll" => "negative log-likelihood",
        _ => return None,
    };
    let network = match (network, network.strip_prefix("stochastic_")) {
        ("surrogate", _) => "the surrogate".to_owned(),
        ("binary", _) => "the network sign(M)".to_owned(),
        (_, Some("1")) => "a stochastic network".to_owned(),
        (_, Some(samples)) => format!("{samples} stochastic networks"),
        _ => return None,
    };
    Some(format!("{part} {score} of {network}"))
}

/// Whether a column's values are between 0 and 1 by their nature.
pub(super) fn is_part(column: &str) -> bool {
    column.ends_with("_accuracy") || matches!(column, "polarised" | "flip_ratio")
}
