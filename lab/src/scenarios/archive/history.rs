//! Time until a reader has a long range in few points.

use super::{super::progress, Archive};
use crate::{
    child::Child,
    cpu, dac_http,
    servers::{INSTANCE, NODE},
    statistics::{median, spread},
    table::Table,
};
use anyhow::{Context, bail};
use serde_json::Value;
use std::{
    path::Path,
    thread,
    time::{Duration, Instant},
};

const POINTS: u32 = 1_500;
const REPETITIONS: usize = 20;
/// Time of the thread that pre-aggregates, for samples that came in seconds and not in an hour.
const PRE_AGGREGATION_TIME: Duration = Duration::from_secs(5);
/// Timeout of making roll-ups.
const ROLL_UP_TIMEOUT: Duration = Duration::from_secs(300);

const HOUR: u64 = 3_600;
const MONTH: u64 = 30 * 24 * HOUR;

impl Archive {
    pub(super) fn history(&self) -> anyhow::Result<String> {
        let mut table =
            Table::new(["what", "read from", "points", "first answer", "median of 20", "range", "target"]);
        for (name, hertz, seconds, target) in
            [("last hour at 1 kHz", 1_000, HOUR, "50 ms"), ("a month at 1 Hz", 1, MONTH, "200 ms")]
        {
            let fill = ["past".to_owned(), hertz.to_string(), seconds.to_string()];
            progress(format_args!("{name}: filling twice"));
            let folder = self.new_folder()?;
            let server = start(folder.path(), &fill)?;
            table.row(row(&server, &format!("{name}, at once"), seconds, target)?);
            drop(server);
            let folder = self.new_folder()?;
            let server = start(folder.path(), &fill)?;
            thread::sleep(PRE_AGGREGATION_TIME);
            table.row(row(&server, name, seconds, target)?);
            drop(server);
            let server = start(folder.path(), &[])?;
            wait_for_rollups(server.place(0)?)?;
            table.row(row(&server, &format!("{name}, after a restart"), seconds, target)?);
        }
        Ok(format!(
            "## The past in points\n\n`GET /api/v1/samples?from=…&to=…&points={POINTS}` over loopback, complete responses, a processor probe (seven counters). First with the newest segment file still open, filled about a hundred times as fast as by its probe: at once, when the first request aggregates samples that have no roll-ups yet, and {} s later. Then after `kill -9` and a restart, with all files sealed and rolled up.\n\n{table}",
            PRE_AGGREGATION_TIME.as_secs()
        ))
    }
}

/// A DAC with an archive, filled so.
pub(super) fn start(folder: &Path, fill: &[String]) -> anyhow::Result<Child> {
    let folder = folder.to_string_lossy();
    let mut arguments = vec!["serve-archive", &folder];
    arguments.extend(fill.iter().map(String::as_str));
    Child::lab(cpu::SERVERS, &arguments)
}

pub(super) fn wait_for_rollups(address: &str) -> anyhow::Result<()> {
    let began = Instant::now();
    while began.elapsed() < ROLL_UP_TIMEOUT {
        let archive = dac_http::get(address, "/api/v1/archive")?;
        if archive["rollup_waiting"] == 0 && archive["rollup_files"] != 0 {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(200));
    }
    bail!("no roll-ups within {ROLL_UP_TIMEOUT:?}")
}

fn row(server: &Child, name: &str, seconds: u64, target: &str) -> anyhow::Result<Vec<String>> {
    let instance = INSTANCE.replace(' ', "%20");
    let path =
        format!("/api/v1/samples?node={NODE}&instance={instance}&from=-{seconds}s&to=-1s&points={POINTS}");
    let (mut times, mut level, mut points) = (Vec::new(), String::new(), 0);
    for _ in 0..=REPETITIONS {
        let began = Instant::now();
        let text = dac_http::text(server.place(0)?, "GET", &path)?;
        times.push(began.elapsed().as_secs_f64() * 1e3);
        let answer: Value = serde_json::from_str(&text)?;
        let message = answer["messages"].get(0).context("response without points")?;
        level = message["level"].as_str().unwrap_or_default().to_owned();
        points = message["times"].as_array().map_or(0, Vec::len);
    }
    let first = times.remove(0);
    let (low, high) = spread(&times).unwrap_or_default();
    Ok(vec![
        name.into(),
        level,
        points.to_string(),
        format!("{first:.1} ms"),
        format!("{:.1} ms", median(&times).unwrap_or_default()),
        format!("{low:.1} to {high:.1}"),
        target.into(),
    ])
}
