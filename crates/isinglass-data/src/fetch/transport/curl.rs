//! By the system's `curl`.

use std::io::{self, BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Stdio};

use super::{CONNECT_SECONDS, Response, SILENT_SECONDS, USER_AGENT, is_local, no_answer, range_start};
use crate::Error;
use crate::fetch::Failure;

/// Asks for what follows the first `have` bytes of a file.
pub(in crate::fetch) fn get(url: &str, have: u64) -> Result<Response, Failure> {
    let mut curl = Command::new("curl");
    // Without the user's settings; silent but for errors; heads of answers before their bodies; redirections are followed.
    curl.args(["--disable", "--silent", "--show-error", "--include", "--suppress-connect-headers", "--location", "--max-redirs", "10"]);
    curl.args(["--proto", "=http,https", "--globoff", "--no-buffer", "--user-agent", USER_AGENT]);
    curl.args(["--connect-timeout", &CONNECT_SECONDS.to_string(), "--speed-limit", "1", "--speed-time", &SILENT_SECONDS.to_string()]);
    if is_local(url) {
        curl.args(["--noproxy", "*"]);
    }
    if have > 0 {
        curl.args(["--range", &format!("{have}-")]);
    }
    curl.args(["--url", url]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = curl.spawn().map_err(|error| Failure::Here(Error::NoCurl(error)))?;
    let output = BufReader::new(child.stdout.take().expect("it is piped"));
    let mut body = Transfer { child, output };
    match head(&mut body.output) {
        Ok(Some(Head { status, length, range_start })) => Ok(Response { status, length, range_start, body: Box::new(body) }),
        Ok(None) => Err(no_answer(body.end().err().map_or_else(|| "no answer".to_owned(), |error| error.to_string()))),
        Err(error) => Err(no_answer(error)),
    }
}

/// The body of an answer, and the process that it comes from.
struct Transfer {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Transfer {
    /// What the process says about its end.
    fn end(&mut self) -> io::Result<()> {
        let mut message = String::new();
        if let Some(mut errors) = self.child.stderr.take() {
            errors.read_to_string(&mut message)?;
        }
        let status = self.child.wait()?;
        if status.success() {
            return Ok(());
        }
        let message = message.lines().next().map_or_else(|| format!("curl ended with {status}"), str::to_owned);
        Err(io::Error::other(message))
    }
}

impl Read for Transfer {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.output.read(buffer)? {
            0 if !buffer.is_empty() => self.end().map(|()| 0),
            count => Ok(count),
        }
    }
}

impl Drop for Transfer {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What of the head of an answer matters.
#[derive(Debug, Default, PartialEq)]
struct Head {
    status: u16,
    length: Option<u64>,
    range_start: Option<u64>,
}

/// The last of the heads at the beginning of the output: that of the file, after those of redirections. `None` if there is none.
fn head(output: &mut impl BufRead) -> io::Result<Option<Head>> {
    /// Much longer heads are not ones.
    const MOST_BYTES: u64 = 1 << 16;
    let mut lines = output.take(MOST_BYTES);
    let mut line = Vec::new();
    let mut next = || -> io::Result<Option<String>> {
        line.clear();
        lines.read_until(b'\n', &mut line)?;
        Ok((!line.is_empty()).then(|| String::from_utf8_lossy(&line).trim_end().to_owned()))
    };
    loop {
        let Some(first) = next()? else { return Ok(None) };
        let status = first.strip_prefix("HTTP/").and_then(|rest| rest.split(' ').nth(1)?.parse().ok());
        let Some(status) = status else {
            return Err(io::Error::other("the answer is not one of HTTP"));
        };
        let mut head = Head { status, ..Head::default() };
        let mut is_redirected = false;
        loop {
            let Some(line) = next()? else { return Ok(None) };
            if line.is_empty() {
                break;
            }
            let Some((name, value)) = line.split_once(':') else { continue };
            match (name.to_ascii_lowercase().as_str(), value.trim()) {
                ("content-length", value) => head.length = value.parse().ok(),
                ("content-range", value) => head.range_start = range_start(value),
                ("location", _) => is_redirected = (300..400).contains(&status),
                _ => {}
            }
        }
        if !is_redirected && status >= 200 {
            return Ok(Some(head));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_head_counts_and_the_body_stays() {
        let text = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 302 Found\r\nLocation: http://a/b\r\nContent-Length: 5\r\n\r\n\
                    HTTP/2 206 \r\nCONTENT-length: 12\r\ncontent-range: bytes 7-18/19\r\n\r\nHTTP/ body\r\n";
        let mut output = text.as_bytes();
        let want = Head { status: 206, length: Some(12), range_start: Some(7) };
        assert_eq!(head(&mut output).unwrap(), Some(want));
        assert_eq!(output, b"HTTP/ body\r\n");
    }

    #[test]
    fn what_is_no_answer_is_none() {
        for text in ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 301 Moved\r\nLocation: /\r\n\r\n"] {
            assert_eq!(head(&mut text.as_bytes()).unwrap(), None, "{text}");
        }
        for text in ["<html>", "HTTP/1.1", "HTTP/1.1 many\r\n\r\n"] {
            assert!(head(&mut text.as_bytes()).is_err(), "{text}");
        }
        // A redirection that leads nowhere is the answer itself.
        assert_eq!(head(&mut b"HTTP/1.1 304 Not Modified\r\n\r\n".as_slice()).unwrap().unwrap().status, 304);
    }
}
