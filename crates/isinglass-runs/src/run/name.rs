//! Names of runs: when they began, and with which settings.

use std::time::{SystemTime, UNIX_EPOCH};

use super::RunConfig;

/// `20260131-235959-0123456789ab`: the time (UTC) and the [hash](RunConfig::hash) of the settings.
pub fn run_name(config: &RunConfig, time: SystemTime) -> String {
    format!("{}-{}", timestamp(time), config.hash())
}

/// `20260131-235959`, in UTC.
pub(crate) fn timestamp(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (year, month, day) = civil_date(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}{month:02}{day:02}-{hour:02}{minute:02}{second:02}")
}

/// `2026-01-31T23:59:59Z`.
pub(crate) fn iso_time(time: SystemTime) -> String {
    let text = timestamp(time);
    let part = |from: usize, to: usize| &text[from..to];
    format!("{}-{}-{}T{}:{}:{}Z", part(0, 4), part(4, 6), part(6, 8), part(9, 11), part(11, 13), part(13, 15))
}

/// The Gregorian date of a day counted from 1 January 1970, by counting from 1 March of the year 0 in eras of 400 years (H. Hinnant, `civil_from_days`).
fn civil_date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (400 * era + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn times_are_those_of_the_calendar() {
        // From `date -u -d @SECONDS +%Y%m%d-%H%M%S`.
        for (seconds, text) in [
            (0, "19700101-000000"),
            (951_782_399, "20000228-235959"),
            (951_782_400, "20000229-000000"),
            (1_767_225_599, "20251231-235959"),
            (4_107_542_400, "21000301-000000"),
        ] {
            assert_eq!(timestamp(UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
        assert_eq!(iso_time(UNIX_EPOCH + Duration::from_secs(951_782_399)), "2000-02-28T23:59:59Z");
    }
}
