//! Reads the samples of an instance at a DAC's door for lines.

use anyhow::{Context, ensure};
use serde_json::Value;
use std::{
    io::{BufRead, BufReader, Write},
    net::TcpStream,
};

/// Gives the metrics of each sample of an instance to the function, those that the DAC has in memory first, until it returns false.
///
/// # Errors
/// If the DAC does not know the instance, or ends.
pub fn follow(
    dac: &str,
    node: &str,
    instance: &str,
    mut each: impl FnMut(&Value) -> bool,
) -> anyhow::Result<()> {
    let stream = TcpStream::connect(dac).with_context(|| format!("no DAC at {dac}"))?;
    let path = format!("/api/v1/samples/stream?node={node}&instance={instance}&from=earliest");
    write!(&stream, "GET {path} HTTP/1.0\r\nHost: {dac}\r\n\r\n")?;
    let mut lines = BufReader::new(stream).lines();
    let status = lines.next().context("an answer without a status")??;
    ensure!(status.contains(" 200 "), "{path}: {status}");
    for line in lines.by_ref() {
        if line?.is_empty() {
            break;
        }
    }
    for line in lines {
        let line = line?;
        // A line without content shows that the connection lives.
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        for sample in message["samples"].as_array().into_iter().flatten() {
            if !each(&sample["metrics"]) {
                return Ok(());
            }
        }
    }
    anyhow::bail!("the DAC has ended the stream of {node}/{instance}")
}
