//! The audit logs of several DACs as one, in the order of their times.

use super::audit_log::{Filter, line};
use crate::{
    live::locate::{Located, variable},
    output_format::Format,
    time_flag,
};
use anyhow::bail;
use clap::Args;
use oasis_access::Record;
use oasis_client::{Api, DacAddress, Server, TemAddress};
use oasis_format::visible::Visible;
use oasis_site::api;
use serde::Deserialize;
use serde_json::{Value, json};
use std::{
    collections::{BTreeSet, VecDeque},
    io::{self, Write},
    path::PathBuf,
    time::Duration,
};

/// Records that are shown unless `-n` says otherwise, and at most.
const DEFAULT_SHOWN_RECORDS: usize = 1_000;
const MAX_SHOWN_RECORDS: u64 = 100_000;
/// Records of one answer. A record has 16 KiB at most, so an answer has some bytes less than [`MAX_PAGE_BYTES`].
const PAGE_RECORDS: usize = 500;
const MAX_PAGE_BYTES: u64 = 10 << 20;
/// Time for an answer.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// Most DACs.
const MAX_DACS: usize = 1_000;

/// The DACs whose logs are read.
#[derive(Debug, Clone, Args)]
pub struct Dacs {
    /// Show the log of this DAC, over HTTP; repeat it to merge several logs in the order of time [env: OASIS_URL, unless a folder is named].
    #[arg(long, value_name = "URL")]
    url: Vec<DacAddress>,
    /// Merge the logs of all DACs that this TEM knows.
    #[arg(long, value_name = "URL")]
    tem: Option<DacAddress>,
    /// CA of the certificates of DACs and TEM, with https:// [default: those that this system trusts].
    #[arg(long, value_name = "FILE", env = "OASIS_CA")]
    ca: Option<PathBuf>,
}

impl Dacs {
    /// Adds the DAC that the environment names, if no other is.
    pub fn or_of_environment(&self) -> anyhow::Result<Self> {
        let mut dacs = self.clone();
        if !dacs.are_named() {
            dacs.url.extend(variable::<DacAddress>("OASIS_URL")?);
        }
        Ok(dacs)
    }

    /// Whether any are named: otherwise the log in a folder is shown.
    pub fn are_named(&self) -> bool {
        self.tem.is_some() || !self.url.is_empty()
    }

    /// Names and addresses.
    fn servers(&self) -> anyhow::Result<Vec<(String, Server)>> {
        let server = |url: &DacAddress| Server { url: url.clone(), ca: self.ca.clone() };
        let named = self.url.iter().map(|url| (url.page(), server(url)));
        let mut servers: Vec<_> = named.collect();
        if let Some(tem) = &self.tem {
            let tems = vec![TemAddress::Url(tem.clone())];
            let found = Located::through(tems, self.ca.clone(), None).servers()?;
            let name = |name: Option<oasis_tem::DacName>, server: &Server| {
                name.map_or_else(|| server.url.page(), |name| name.to_string())
            };
            servers.extend(found.into_iter().map(|(dac, server)| (name(dac, &server), server)));
        }
        // A log that is named twice is read once.
        let mut seen = BTreeSet::new();
        servers.retain(|(_, server)| seen.insert(server.url.page()));
        if servers.len() > MAX_DACS {
            bail!(
                "{} DACs are more than the {MAX_DACS} whose logs can be merged: name some with --url",
                servers.len()
            );
        }
        Ok(servers)
    }
}

/// Shows the newest records of all logs, oldest first. Fails after that if a DAC did not answer.
pub fn show(dacs: &Dacs, filter: &Filter) -> anyhow::Result<()> {
    let most = filter.last.unwrap_or(DEFAULT_SHOWN_RECORDS as u64);
    if most > MAX_SHOWN_RECORDS {
        bail!(
            "-n {most} is too much for several logs: use {MAX_SHOWN_RECORDS} at most, with --from and --to"
        );
    }
    // A wrong time is an error here, not at each DAC.
    time_flag::span(filter.from.as_deref(), filter.to.as_deref())?;
    let servers = dacs.servers()?;
    let mut logs = Vec::new();
    for (dac, server) in servers {
        let api = api::within(&server, Some(REQUEST_TIMEOUT));
        let mut log = Log { dac, api: None, waiting: VecDeque::new(), before: None, problem: None };
        match api {
            Ok(api) => log.api = Some(api),
            Err(error) => log.problem = Some(format!("{error:#}")),
        }
        logs.push(log);
    }
    let mut shown = VecDeque::new();
    let mut is_more = false;
    while let Some((dac, record)) = newest(&mut logs, filter) {
        if shown.len() as u64 >= most {
            is_more = true;
            break;
        }
        shown.push_front((dac, record));
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    for (dac, record) in &shown {
        print(&mut out, dac, record, filter.output.format())?;
    }
    let failed: Vec<_> = logs.iter().filter_map(|log| Some((&log.dac, log.problem.as_ref()?))).collect();
    for (dac, problem) in &failed {
        match filter.output.format() {
            Format::Json => writeln!(out, "{}", json!({"dac": dac, "problem": problem}))?,
            Format::Text => writeln!(out, "{}", Visible(&format!("{dac}: no answer: {problem}")))?,
        }
    }
    out.flush()?;
    if is_more && filter.last.is_none() {
        eprintln!("older records are left out: use -n N for more, or --from and --to");
    }
    match failed.len() {
        0 => Ok(()),
        1 => bail!("a DAC did not answer: its records are missing"),
        count => bail!("{count} DACs did not answer: their records are missing"),
    }
}

/// One log, read from its end.
struct Log {
    dac: String,
    api: Option<Api>,
    /// Records that were read, newest first.
    waiting: VecDeque<Record>,
    /// Sequence number that the next answer ends before.
    before: Option<u64>,
    /// Why no more records come.
    problem: Option<String>,
}

#[derive(Deserialize)]
struct Page {
    records: Vec<Record>,
    next: Option<u64>,
}

impl Log {
    /// Reads until there is a record, or no more.
    fn fill(&mut self, filter: &Filter) {
        while self.waiting.is_empty() && self.problem.is_none() {
            let Some(api) = &self.api else { return };
            match page(api, filter, self.before) {
                Ok(Page { records, next }) => {
                    // Numbers must fall, whatever a DAC says: otherwise this would never end.
                    let is_end = next.is_none() || self.before.is_some_and(|before| next >= Some(before));
                    self.waiting.extend(records.into_iter().take(PAGE_RECORDS));
                    self.before = next;
                    if is_end {
                        self.api = None;
                    }
                }
                Err(error) => self.problem = Some(format!("{error:#}")),
            }
        }
    }
}

fn page(api: &Api, filter: &Filter, before: Option<u64>) -> anyhow::Result<Page> {
    let (limit, before) = (PAGE_RECORDS.to_string(), before.map(|before| before.to_string()));
    let parameters = [
        ("limit", Some(limit.as_str())),
        ("before", before.as_deref()),
        ("from", filter.from.as_deref()),
        ("to", filter.to.as_deref()),
        ("principal", filter.principal.as_deref()),
        ("action", filter.action.as_deref()),
        ("target", filter.target.as_deref()),
    ];
    let query: Vec<_> = parameters.into_iter().filter_map(|(key, value)| Some((key, value?))).collect();
    Ok(api.get_bounded("/audit-log", &query, MAX_PAGE_BYTES)?)
}

/// Takes the newest record of all logs. Each log keeps its own order, also if a clock was set.
fn newest(logs: &mut [Log], filter: &Filter) -> Option<(String, Record)> {
    logs.iter_mut().for_each(|log| log.fill(filter));
    let time = |log: &Log| log.waiting.front().map(|record| record.nanos().map(|time| time.0));
    let log = logs.iter_mut().filter(|log| !log.waiting.is_empty()).max_by_key(|log| time(log))?;
    Some((log.dac.clone(), log.waiting.pop_front()?))
}

fn print(out: &mut impl Write, dac: &str, record: &Record, format: Format) -> io::Result<()> {
    match format {
        Format::Json => {
            let mut value = serde_json::to_value(record).map_err(io::Error::from)?;
            value["dac"] = Value::from(dac);
            writeln!(out, "{value}")
        }
        Format::Text => writeln!(out, "{}", Visible(&format!("{dac} {}", line(record)))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(seq: u64, time: &str) -> Record {
        let value = json!({
            "seq": seq, "time": time, "principal": "local", "address": "", "action": "a", "target": "",
            "arguments": null, "result": "done", "of": null, "previous": "0".repeat(64), "hash": "0".repeat(64),
        });
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn logs_are_merged_by_time_and_each_keeps_its_order() {
        let log = |dac: &str, times: &[&str]| Log {
            dac: dac.into(),
            api: None,
            waiting: times
                .iter()
                .rev()
                .zip((1..=times.len() as u64).rev())
                .map(|(time, seq)| record(seq, time))
                .collect(),
            before: None,
            problem: None,
        };
        let minute = |minute: u32| format!("2026-05-04T12:{minute:02}:00.000000Z");
        let [one, two, three, four] = [1, 2, 3, 4].map(minute);
        // The clock of the second one was set back.
        let mut logs = [log("hall", &[&one, &three]), log("gate", &[&four, &two])];
        let filter = Filter::default();
        let mut order = Vec::new();
        while let Some((dac, record)) = newest(&mut logs, &filter) {
            order.push(format!("{dac} {}", record.seq));
        }
        assert_eq!(order, ["hall 2", "gate 2", "gate 1", "hall 1"]);
    }
}
