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
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
