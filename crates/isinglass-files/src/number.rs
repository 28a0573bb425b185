//! Numbers in messages.

use core::fmt::{Display, Formatter, LowerExp, Result};

/// A number for a message: in as many digits as it has, with an exponent where these would be mostly zeros.
///
/// ```
/// use isinglass_files::number;
///
/// let texts = [0.0, 1.0, -0.25, 1e300, 2.5e-40].map(|x| number(x).to_string());
/// assert_eq!(texts, ["0", "1", "-0.25", "1e300", "2.5e-40"]);
/// assert_eq!(number(0.1f32).to_string(), "0.1");
/// ```
pub fn number<T: Copy + Into<f64> + Display + LowerExp>(x: T) -> impl Display {
    Number(x)
}

struct Number<T>(T);

impl<T: Copy + Into<f64> + Display + LowerExp> Display for Number<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let x: f64 = self.0.into();
        let size = x.abs();
        if size == 0.0 || (1e-6..1e9).contains(&size) || !x.is_finite() { Display::fmt(&self.0, f) } else { LowerExp::fmt(&self.0, f) }
    }
}
