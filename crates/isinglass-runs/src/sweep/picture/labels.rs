//! What axes are called in a picture.

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
        "train-fraction" => "fraction of the training data".into(),
        other => plain(other),
    }
}
