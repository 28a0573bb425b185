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

/// A fraction of all, in per cent; a difference of two may be negative.
///
/// ```
/// use isinglass_runs::words::percent;
///
/// assert_eq!([percent(0.97123), percent(-0.01)], ["97.12 %", "−1.00 %"]);
/// ```
pub fn percent(fraction: f64) -> String {
    format!("{:.2} %", 100.0 * fraction).replace('-', "−")
}

/// A difference of two fractions in percentage points, with its sign and a real minus.
///
/// ```
/// use isinglass_runs::words::points;
///
/// assert_eq!([points(0.004), points(-0.0125)], ["+0.40", "−1.25"]);
/// ```
pub fn points(difference: f64) -> String {
    format!("{:+.2}", 100.0 * difference).replace('-', "−")
}

/// A time in the unit one would say it in, to the two digits that an estimate deserves.
///
/// ```
/// use isinglass_runs::words::duration;
///
/// assert_eq!([0.04, 9.96, 119.0, 300.0].map(duration), ["0.0 s", "10 s", "119 s", "5 min"]);
/// assert_eq!([9000.0, 259_200.0].map(duration), ["2.5 h", "3.0 days"]);
/// ```
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 9.95 => format!("{s:.1} s"),
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s if s < 48.0 * 3600.0 => format!("{:.1} h", s / 3600.0),
        s => format!("{:.1} days", s / 86_400.0),
    }
}

/// A number of things.
///
/// ```
/// use isinglass_runs::words::counted;
///
/// assert_eq!([counted(1, "cell"), counted(2, "cell")], ["1 cell", "2 cells"]);
/// ```
pub fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
