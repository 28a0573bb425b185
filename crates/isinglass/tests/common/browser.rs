//! A browser without a window, if `ISINGLASS_CHROMIUM` names one.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use super::Scratch;

/// The browser's name, or a message that the test is skipped.
pub fn browser() -> Option<String> {
    let name = std::env::var("ISINGLASS_CHROMIUM").ok().filter(|name| !name.is_empty());
    if name.is_none() {
        isinglass_fuzz::skip("ISINGLASS_CHROMIUM names no browser");
    }
    name
}

/// Opens a page of the scratch directory.
pub fn visit(home: &Scratch, browser: &str, page: &str, flags: &[&str]) -> Output {
    // A profile of its own, for it to find nothing and leave nothing.
    let profile = home.path("profile");
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"])
        .args(["--disable-component-update", "--disable-sync", "--hide-scrollbars", "--enable-logging=stderr", "--log-level=0"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .args(flags)
        .arg(address(&home.path(page)))
        .stdin(Stdio::null())
        .output()
        .expect("the browser starts");
    assert!(output.status.success(), "{page}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// The page after its scripts have run.
pub fn document(home: &Scratch, browser: &str, page: &str) -> String {
    String::from_utf8(visit(home, browser, page, &["--dump-dom"]).stdout).unwrap()
}

/// What scripts and the browser itself had to say about a page.
pub fn console(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stderr);
    text.lines().filter(|line| line.contains("CONSOLE")).map(str::to_owned).collect()
}

fn address(path: &Path) -> String {
    format!("file://{}", path.display())
}
