//! Servers of Node.js, which get the records by their standard input.

use crate::nodejs::FOLDER;
use anyhow::Context;
use serde_json::json;
use std::{
    io::{BufRead, BufReader, Write},
    net::{IpAddr, SocketAddr},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    sync::{Mutex, PoisonError},
};

/// A server that runs until this is dropped.
#[derive(Debug)]
pub struct Program {
    records: Mutex<ChildStdin>,
    process: Child,
}

impl Program {
    /// Starts a server at a free port of this address, and returns it with its address.
    pub fn start(script: &str, host: IpAddr) -> anyhow::Result<(Self, SocketAddr)> {
        let mut node = Command::new("node");
        node.arg(Path::new(FOLDER).join("outlets").join(script)).arg(host.to_string());
        node.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = node.spawn().context("cannot run node: install Node.js 20")?;
        let (records, output) = process.stdin.take().zip(process.stdout.take()).context("no pipes")?;
        let program = Self { records: Mutex::new(records), process };
        let mut address = String::new();
        BufReader::new(output).read_line(&mut address)?;
        let address = address.trim().parse();
        Ok((program, address.with_context(|| format!("{script} does not start: run `npm ci`"))?))
    }

    /// Names an instance before its first record.
    pub fn announce(&self, instance: &str) -> anyhow::Result<()> {
        self.put(&json!({"instance": instance}).to_string())
    }

    /// Gives it a record; waits while it does not read.
    pub fn put(&self, record: &str) -> anyhow::Result<()> {
        let mut records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        writeln!(records, "{record}").context("the server of Node.js has ended")
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // The process may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        io::{Read, stderr},
        net::{Ipv4Addr, TcpStream},
    };

    /// Sends a request, and returns the beginning of the answer.
    fn answer(address: SocketAddr, request: &str) -> String {
        let mut server = TcpStream::connect(address).expect("a connection");
        server.write_all(request.as_bytes()).expect("a server that reads");
        let mut begin = [0; 12];
        server.read_exact(&mut begin).expect("an answer");
        String::from_utf8_lossy(&begin).into_owned()
    }

    #[test]
    fn both_servers_start_take_records_and_answer() {
        if crate::nodejs::package("socket.io").is_err() {
            let _ = writeln!(stderr(), "SKIPPED: the packages of Node.js are not installed");
            return;
        }
        let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
        for (script, path, more) in [
            ("socket.io.js", "/socket.io/?EIO=4&transport=websocket", ""),
            ("foxglove.js", "/", "Sec-WebSocket-Protocol: foxglove.websocket.v1\r\n"),
        ] {
            let (program, address) = Program::start(script, Ipv4Addr::LOCALHOST.into()).expect(script);
            program.announce("pump").expect("a server that reads");
            program
                .put(r#"{"instance":"pump","time":1,"sequence":1,"metrics":{}}"#)
                .expect("a server that reads");
            let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n{upgrade}{more}\r\n");
            assert_eq!(answer(address, &request), "HTTP/1.1 101", "{script}");
        }
    }

    #[test]
    fn a_script_that_does_not_start_is_an_error() {
        if crate::nodejs::version().is_err() {
            return;
        }
        let error = Program::start("no-such.js", Ipv4Addr::LOCALHOST.into()).expect_err("no script");
        assert!(error.to_string().contains("no-such.js does not start"), "{error:#}");
    }
}
