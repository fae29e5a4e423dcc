//! What a DAC says of itself over HTTP.

use anyhow::Context;
use serde_json::Value;
use std::{
    io::{Read, Write},
    net::TcpStream,
};

/// The JSON at `path`.
pub fn get(address: &str, path: &str) -> anyhow::Result<Value> {
    let mut stream = TcpStream::connect(address)?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (_, body) = answer.split_once("\r\n\r\n").context("an HTTP answer without a body")?;
    serde_json::from_str(body).with_context(|| format!("{path} is no JSON"))
}

/// The loss ledger of an instance, once the DAC knows it.
pub fn ledger(address: &str, instance: &str) -> anyhow::Result<Option<Value>> {
    let book = get(address, "/api/v1/ledger")?;
    let ledgers = book["instances"].as_array().context("a ledger without instances")?;
    Ok(ledgers.iter().find(|ledger| ledger["instance"] == instance).map(|ledger| ledger["ledger"].clone()))
}
