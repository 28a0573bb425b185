//! Asking a server for a file.
//!
//! Encrypted connections are left to the system's `curl`, which almost every machine has, or with the feature `tls` to a library,
//! which takes a sixth of the time to compile everything.

#[cfg(not(feature = "tls"))]
mod curl;
#[cfg(feature = "tls")]
mod tls;

use std::io::Read;

#[cfg(not(feature = "tls"))]
pub(super) use curl::get;
#[cfg(feature = "tls")]
pub(super) use tls::get;

use super::Failure;

/// Seconds to wait for a connection, and for anything to arrive. What has arrived before is kept, and the rest is requested again.
const CONNECT_SECONDS: u64 = 15;
const SILENT_SECONDS: u64 = 60;

const USER_AGENT: &str = concat!("isinglass/", env!("CARGO_PKG_VERSION"));

/// What a server answers.
pub(super) struct Response {
    pub status: u16,
    /// Bytes of the body, if the server says so.
    pub length: Option<u64>,
    /// Where in the file the body begins, if it is a part of it.
    pub range_start: Option<u64>,
    pub body: Box<dyn Read>,
}

/// The 7 of `bytes 7-99/100`.
fn range_start(content_range: &str) -> Option<u64> {
    content_range.strip_prefix("bytes ")?.split('-').next()?.trim().parse().ok()
}

/// Whether a server is on this machine, so that no proxy is needed.
fn is_local(url: &str) -> bool {
    ["http://127.0.0.1", "http://localhost", "http://[::1]"].iter().any(|host| url.starts_with(host))
}

/// A server that does not answer.
fn no_answer(reason: impl std::fmt::Display) -> Failure {
    Failure::There(reason.to_string())
}
