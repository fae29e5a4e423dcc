//! `oasis list --dacs`: the DACs that a TEM knows.

use crate::output_format::Format;
use oasis_client::FetchedTems;
use oasis_format::visible::Visible;
use oasis_tem::{DacView, Health};
use std::io::{self, Write};

/// Column headings.
const COLUMN_HEADINGS: [&str; 9] =
    ["DAC", "KIND", "STATE", "HEALTH", "NODES", "READERS", "SAMPLES/S", "HEARD", "ADDRESS"];

/// Prints all DACs. Whether they are live is unknown if no TEM has answered.
pub fn run(found: &FetchedTems, format: Format) -> anyhow::Result<()> {
    let list = &found.list;
    if list.dacs().is_empty() {
        eprintln!("no DAC has registered at {}: start one with --tem {0}", list.tem().url);
    }
    match print(list.dacs(), found.remembered.is_some(), format) {
        // `oasis list --dacs | head` is not an error.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

fn print(dacs: &[DacView], is_remembered: bool, format: Format) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if format == Format::Json {
        return dacs.iter().try_for_each(|dac| writeln!(out, "{}", serde_json::to_string(dac)?));
    }
    let rows: Vec<Vec<String>> = dacs.iter().map(|dac| row(dac, is_remembered).into()).collect();
    super::list::table(&mut out, &COLUMN_HEADINGS, &rows)
}

fn row(dac: &DacView, is_remembered: bool) -> [String; 9] {
    let health = match dac.health {
        Health::Ok => "ok",
        Health::Degraded => "degraded",
        Health::Failing => "failing",
    };
    let state = match dac.is_live() {
        _ if is_remembered => "?",
        true => "live",
        false => "late",
    };
    let figure = |number: Option<u64>| number.map_or("-".into(), |number| number.to_string());
    let nodes = dac.load.map_or(dac.nodes.len() as u64, |load| load.nodes);
    let cells = [
        dac.name.to_string(),
        dac.kind.as_str().into(),
        state.into(),
        health.into(),
        nodes.to_string(),
        figure(dac.load.map(|load| load.readers)),
        figure(dac.load.map(|load| load.samples_per_second)),
        format!("{}.{} s", dac.silent_ms / 1_000, dac.silent_ms % 1_000 / 100),
        dac.doors.clone(),
    ];
    cells.map(|cell| Visible(&cell).to_string())
}
