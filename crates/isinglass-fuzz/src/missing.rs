//! What some tests need and not every machine has: a browser, Slurm, Python with onnxruntime, the published data sets.

/// Says that a test, or a part of it, is skipped for this reason. Where `ISINGLASS_REQUIRE` is 1, nothing may be missing and the test fails.
#[track_caller]
pub fn skip(reason: &str) {
    skip_unless(std::env::var_os("ISINGLASS_REQUIRE").is_some_and(|value| value == "1"), reason);
}

#[track_caller]
fn skip_unless(required: bool, reason: &str) {
    assert!(!required, "{reason}, and ISINGLASS_REQUIRE=1 says that nothing may be missing");
    eprintln!("skipped: {reason}");
}

#[cfg(test)]
mod tests {
    use super::skip_unless;

    #[test]
    fn what_may_be_missing_is_skipped() {
        skip_unless(false, "there is none");
    }

    #[test]
    #[should_panic(expected = "there is none, and ISINGLASS_REQUIRE=1 says that nothing may be missing")]
    fn what_is_required_is_not() {
        skip_unless(true, "there is none");
    }
}
