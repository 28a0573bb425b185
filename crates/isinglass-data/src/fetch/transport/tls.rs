//! By a library that is compiled in.

use std::time::Duration;

use ureq::Agent;
use ureq::http::header::{CONTENT_LENGTH, CONTENT_RANGE, HeaderName, RANGE};

use super::{CONNECT_SECONDS, Response, SILENT_SECONDS, USER_AGENT, is_local, no_answer, range_start};
use crate::fetch::Failure;

/// Asks for what follows the first `have` bytes of a file.
pub(in crate::fetch) fn get(url: &str, have: u64) -> Result<Response, Failure> {
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .user_agent(USER_AGENT)
        .timeout_connect(Some(Duration::from_secs(CONNECT_SECONDS)))
        .timeout_recv_response(Some(Duration::from_secs(SILENT_SECONDS)))
        .timeout_recv_body(Some(Duration::from_secs(SILENT_SECONDS)));
    let agent: Agent = if is_local(url) { config.proxy(None).build().into() } else { config.build().into() };
    let request = agent.get(url);
    let request = if have > 0 { request.header(RANGE, format!("bytes={have}-")) } else { request };
    let response = request.call().map_err(no_answer)?;
    let header = |name: HeaderName| response.headers().get(name)?.to_str().ok();
    Ok(Response {
        status: response.status().as_u16(),
        length: header(CONTENT_LENGTH).and_then(|length| length.parse().ok()),
        range_start: header(CONTENT_RANGE).and_then(range_start),
        body: Box::new(response.into_body().into_reader()),
    })
}
