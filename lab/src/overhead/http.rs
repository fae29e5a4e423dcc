//! Overhead of HTTP for a message: the heads of a poll of a real DAC.

use crate::servers::{Feed, INSTANCE, NODE};
use anyhow::Context;
use oasis_dac::Dac;
use oasis_doors::{Doors, DoorsConfig, serve};
use std::future;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// The address that a client names: the port on which the kernel lets the DAC listen may have fewer digits.
const HOST: &str = "127.0.0.1:40000";

/// The headers of `fetch` in Chromium 156, after those that depend on the address.
const BROWSER: &str = "Connection: keep-alive\r\nsec-ch-ua-platform: \"Linux\"\r\n\
    User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36\r\n\
    sec-ch-ua: \"Chromium\";v=\"156\", \"Not)A;Brand\";v=\"24\"\r\nsec-ch-ua-mobile: ?0\r\nAccept: */*\r\n\
    Sec-Fetch-Site: same-origin\r\nSec-Fetch-Mode: cors\r\nSec-Fetch-Dest: empty\r\n\
    Accept-Encoding: gzip, deflate, br, zstd\r\nAccept-Language: en-US,en;q=0.9\r\n";

/// The fewest headers that HTTP/1.1 allows.
const SCRIPT: &str = "";

/// Bytes of one poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Poll {
    /// Bytes of the request, which has no body.
    pub request: usize,
    /// Bytes of the head of the answer.
    pub head: usize,
}

/// Polls as a script and as a browser does.
pub fn polls() -> anyhow::Result<[Poll; 2]> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let dac = Dac::new(oasis_dac::Config::default());
        let mut feed = Feed::new(dac.clone())?;
        feed.batch(1, |_| oasis_dac::now().0, false)?;
        let doors = Doors::new(dac, DoorsConfig::default(), None)?;
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?.to_string();
        let router = doors.router();
        let served = tokio::spawn(async move { serve(&doors, router, listener, future::pending()).await });
        let polls = [poll(&address, SCRIPT).await?, poll(&address, BROWSER).await?];
        served.abort();
        Ok(polls)
    })
}

async fn poll(address: &str, headers: &str) -> anyhow::Result<Poll> {
    let instance = INSTANCE.replace(' ', "%20");
    let path = format!("/api/v1/samples?node={NODE}&instance={instance}");
    let request = format!("GET {path} HTTP/1.1\r\nHost: {HOST}\r\n{headers}\r\n");
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    while !answer.windows(4).any(|end| end == b"\r\n\r\n") {
        anyhow::ensure!(stream.read_buf(&mut answer).await? > 0, "the DAC closed the connection");
    }
    let head = answer.windows(4).position(|end| end == b"\r\n\r\n").context("an answer without a head")? + 4;
    anyhow::ensure!(answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
    Ok(Poll { request: request.len(), head })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_sends_more_than_a_script_and_gets_the_same_answer() {
        let [script, browser] = polls().unwrap();
        // Two DACs, on other ports of the kernel's.
        assert_eq!([script, browser], polls().unwrap());
        assert!(script.request > 100 && browser.request > script.request + 400, "{script:?} {browser:?}");
        assert!(script.head > 80 && script.head.abs_diff(browser.head) < 40, "{script:?} {browser:?}");
    }
}
