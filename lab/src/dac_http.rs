//! Requests to the HTTP API of a DAC.

use crate::entrance::Entrance;
use anyhow::{Context, ensure};
use serde_json::{Value, json};
use std::{
    io::{Read, Write},
    net::TcpStream,
};

/// The JSON at `path`.
pub fn get(address: &str, path: &str) -> anyhow::Result<Value> {
    serde_json::from_str(&text(address, "GET", path)?).with_context(|| format!("{path} is no JSON"))
}

/// The answer to a request without a body.
pub fn text(address: &str, method: &str, path: &str) -> anyhow::Result<String> {
    text_through(&Entrance::default(), address, method, path)
}

fn text_through(entrance: &Entrance, address: &str, method: &str, path: &str) -> anyhow::Result<String> {
    let mut stream = entrance.connect(address)?;
    let header = &entrance.header;
    write!(
        stream,
        "{method} {path} HTTP/1.0\r\nHost: {address}\r\n{header}Connection: close\r\nContent-Length: 0\r\n\r\n"
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (_, body) = answer.split_once("\r\n\r\n").context("HTTP response without a body")?;
    Ok(body.to_owned())
}

/// Sends a command to a probe.
pub fn command(address: &str, node: &str, instance: &str, command: &str) -> anyhow::Result<()> {
    let body = json!({"node": node, "instance": instance, "command": command});
    post(address, "/api/v1/commands", &body)
        .map(drop)
        .with_context(|| format!("the DAC does not {command} {instance}"))
}

/// The answer to a request with this body.
pub fn post(address: &str, path: &str, body: &Value) -> anyhow::Result<String> {
    let body = body.to_string();
    let mut stream = TcpStream::connect(address)?;
    write!(
        stream,
        "POST {path} HTTP/1.0\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let status = answer.split(' ').nth(1).unwrap_or_default();
    ensure!(status == "200", "{path}: {answer}");
    let (_, body) = answer.split_once("\r\n\r\n").context("HTTP response without a body")?;
    Ok(body.to_owned())
}

/// The loss ledger of an instance, once the DAC knows it.
pub fn ledger(address: &str, instance: &str) -> anyhow::Result<Option<Value>> {
    ledger_through(&Entrance::default(), address, instance)
}

/// The same, where one gets in differently.
pub fn ledger_through(entrance: &Entrance, address: &str, instance: &str) -> anyhow::Result<Option<Value>> {
    let book: Value = serde_json::from_str(&text_through(entrance, address, "GET", "/api/v1/ledger")?)
        .context("the ledger is no JSON")?;
    let ledgers = book["instances"].as_array().context("ledger without instances")?;
    Ok(ledgers.iter().find(|ledger| ledger["instance"] == instance).map(|ledger| ledger["ledger"].clone()))
}
