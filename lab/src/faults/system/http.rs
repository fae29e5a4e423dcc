//! Requests to a DAC that may be stopped, dead or overloaded: each has a deadline.

use anyhow::{Context, bail};
use serde_json::Value;
use std::{
    io::{ErrorKind, Read, Write},
    net::{SocketAddr, TcpStream},
    time::{Duration, Instant},
};

/// Deadline of a request to a DAC that works.
pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// Upper bound of the bytes of an answer.
const MAX_ANSWER_BYTES: usize = 64 * 1024 * 1024;

/// Status and body.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub body: String,
}

impl Answer {
    /// The body, if it is JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }
}

/// The answer to a request without a body, all of it within `deadline`.
pub fn request(address: &str, method: &str, path: &str, deadline: Duration) -> anyhow::Result<Answer> {
    let until = Instant::now() + deadline;
    let place: SocketAddr = address.parse().context("the address of the DAC")?;
    let mut stream = TcpStream::connect_timeout(&place, deadline)?;
    stream.set_write_timeout(Some(deadline))?;
    write!(
        stream,
        "{method} {path} HTTP/1.0\r\nHost: {address}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
    )?;
    let mut bytes = Vec::new();
    let mut chunk = [0; 16 * 1024];
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || bytes.len() > MAX_ANSWER_BYTES {
            bail!("{method} {path}: no whole answer within {} ms", deadline.as_millis());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => bytes.extend_from_slice(&chunk[..count]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(error) => return Err(error).with_context(|| format!("{method} {path}")),
        }
    }
    let text = String::from_utf8_lossy(&bytes);
    let (head, body) = text.split_once("\r\n\r\n").context("an answer without a head")?;
    let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).context("no status")?;
    Ok(Answer { status, body: body.to_owned() })
}

/// The JSON at `path`, which a DAC that works answers soon.
pub fn get(address: &str, path: &str) -> anyhow::Result<Value> {
    let answer = request(address, "GET", path, REQUEST_TIMEOUT)?;
    if answer.status != 200 {
        bail!("GET {path} was answered {}: {}", answer.status, answer.body);
    }
    Ok(answer.json())
}
