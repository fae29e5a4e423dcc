//! Time until the first page of a search of log records.

use super::{
    super::progress,
    Archive,
    history::{start, wait_for_rollups},
    load::bytes_in,
};
use crate::{
    child::Child,
    dac_http,
    servers::log_records::{ABSENT, FIELD, FREQUENT, RARE_WORD, request},
    statistics::{median, spread},
    table::Table,
};
use anyhow::ensure;
use serde_json::{Value, json};
use std::time::Instant;

const REPETITIONS: usize = 20;
/// Records in a batch of the archive: of a busy program, and of one that logs 1,000 records a second.
const BATCHES: [u64; 2] = [100, 10];

impl Archive {
    pub(super) fn search(&self) -> anyhow::Result<String> {
        let records = self.records_m * 1_000_000;
        let mut table = Table::new([
            "records in a batch",
            "archive",
            "search",
            "found",
            "first answer",
            "median of 20",
            "range",
        ]);
        for in_batch in BATCHES {
            progress(format_args!("{records} log records in batches of {in_batch}: filling"));
            let folder = self.new_folder()?;
            drop(start(folder.path(), &["logs".into(), records.to_string(), in_batch.to_string()])?);
            // Sealed by the start after the kill.
            let server = start(folder.path(), &[])?;
            wait_for_rollups(server.place(0)?)?;
            let size = format!("{:.2} GB", bytes_in(folder.path())? as f64 / 1e9);
            for (name, wanted, least) in searches(records) {
                let measured = measure(&server, &wanted, least)?;
                table.row([vec![in_batch.to_string(), size.clone(), name.to_owned()], measured].concat());
            }
        }
        Ok(format!(
            "## Log search\n\n`POST /api/v1/search` over loopback for the newest 100 records of {records}, complete responses, all files sealed and in the page cache. Wanted are 300 ms.\n\n{table}"
        ))
    }
}

/// Names of searches, what they are for, and how many records the first page has.
fn searches(records: u64) -> [(&'static str, Value, usize); 10] {
    let old = request(records / 10 + 7);
    [
        ("all", json!({}), 100),
        ("a frequent word", json!({"text": FREQUENT}), 100),
        ("a rare word, 3 records", json!({"text": RARE_WORD}), 3),
        ("an absent word", json!({"text": ABSENT}), 0),
        ("two words, never together", json!({"text": format!("{RARE_WORD} {ABSENT}")}), 0),
        ("a part of a unique number", json!({"text": &old[2..12]}), 1),
        ("a field", json!({"fields": [format!("{FIELD}={old}")]}), 1),
        ("level ERROR", json!({"level": "ERROR"}), 100),
        ("level FATAL, 2 records", json!({"level": "FATAL"}), 2),
        ("a word of three characters, absent: a scan of 1 GiB", json!({"text": "qqq"}), 0),
    ]
}

fn measure(server: &Child, wanted: &Value, least: usize) -> anyhow::Result<Vec<String>> {
    let mut times = Vec::new();
    let mut found = 0;
    for _ in 0..=REPETITIONS {
        let began = Instant::now();
        let text = dac_http::post(server.place(0)?, "/api/v1/search", wanted)?;
        times.push(began.elapsed().as_secs_f64() * 1e3);
        let answer: Value = serde_json::from_str(&text)?;
        found = answer["records"].as_array().map_or(0, Vec::len);
        ensure!(found == least && answer["unreadable"] == 0, "{wanted}: {text}");
    }
    let first = times.remove(0);
    let (low, high) = spread(&times).unwrap_or_default();
    Ok(vec![
        found.to_string(),
        format!("{first:.1} ms"),
        format!("{:.1} ms", median(&times).unwrap_or_default()),
        format!("{low:.1} to {high:.1}"),
    ])
}
