//! Numbers, fractions, durations and counts as people read them: in tables, messages and reports.

/// A number to four significant digits, without trailing zeros.
///
/// ```
/// use isinglass_runs::words::digits;
///
/// assert_eq!(digits(std::f64::consts::FRAC_PI_2), "1.571");
/// assert_eq!(digits(1.0), "1");
/// assert_eq!(digits(1.234e-9), "1.234e-9");
/// ```
pub fn digits(x: f64) -> String {
    let size = x.abs();
    if x == 0.0 {
        return "0".to_owned();
    }
    if !(1e-3..1e5).contains(&size) {
        let text = format!("{x:.3e}");
        return match text.split_once('e') {
            Some((mantissa, exponent)) if mantissa.contains('.') => {
                format!("{}e{exponent}", mantissa.trim_end_matches('0').trim_end_matches('.'))
            }
            _ => text,
        };
    }
    let decimals = (3 - libm::log10(size).floor() as i32).max(0) as usize;
    let text = format!("{x:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}
