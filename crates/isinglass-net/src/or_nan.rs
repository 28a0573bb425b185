//! Numbers in JSON: what is not finite is written as null, and read as NaN.

use serde::{Deserialize, Deserializer};

/// A number, or NaN for null.
pub(crate) fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(deserializer)?.unwrap_or(f64::NAN))
}
