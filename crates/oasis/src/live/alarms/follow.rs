//! `oasis alarms follow`: what stands, and each change.

use super::line;
use crate::output_format::Format;
use anyhow::{Context, bail};
use oasis_client::Api;
use serde_json::Value;
use std::io::{self, BufRead, Read, Write};

/// Most bytes of a line: a page of the list has 200 alarms.
const MAX_LINE_BYTES: u64 = 16 << 20;

/// Prints until the DAC ends the stream.
pub fn run(api: &Api, format: Format) -> anyhow::Result<()> {
    let mut stream = api.open("/alarms/events")?;
    let mut name = String::new();
    loop {
        let mut text = String::new();
        let read = stream
            .by_ref()
            .take(MAX_LINE_BYTES)
            .read_line(&mut text)
            .context("the DAC does not answer any more")?;
        if read == 0 || !text.ends_with('\n') {
            bail!("the DAC has closed the connection");
        }
        if let Some(event) = text.strip_prefix("event: ") {
            event.trim().clone_into(&mut name);
        } else if let Some(data) = text.strip_prefix("data: ") {
            let data: Value = serde_json::from_str(data).context("the DAC sent an event that is not JSON")?;
            take(&name, data, format)?;
        }
    }
}

fn take(name: &str, mut data: Value, format: Format) -> anyhow::Result<()> {
    match name {
        "alarms" => {
            let alarms = data["alarms"].as_array_mut().map(std::mem::take).unwrap_or_default();
            let mut standing = alarms.iter().filter(|alarm| alarm["state"] != "normal");
            standing.try_for_each(|alarm| print(alarm, format))?;
        }
        "alarm" => print(&data, format)?,
        "end" => bail!("the DAC has ended the stream: {}", line::text(&data, "cause")),
        _ => {}
    }
    Ok(())
}

fn print(alarm: &Value, format: Format) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match format {
        Format::Json => writeln!(out, "{alarm}"),
        Format::Text => writeln!(out, "{}", line::row(alarm).join("  ").trim_end()),
    }
}
