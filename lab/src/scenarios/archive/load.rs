//! A million samples a second, archived or not, while others watch.

use super::{super::progress, Archive};
use crate::{
    crowd::{Dialect, Tally},
    dac_http,
    order::Order,
    servers::INSTANCE,
    station::{RunningServer, Station},
    statistics::{median, ratios, spread},
    table::{Table, millis, percent, ratio, short},
};
use anyhow::Context;
use std::{
    path::Path,
    time::{Duration, Instant},
};

/// Time for samples that are still on their way when the probe has ended.
const DRAIN_TIME: Duration = Duration::from_secs(1);

/// One run.
struct Run {
    samples: u64,
    /// Samples that subscribers did not get, all together.
    lost: u64,
    /// Samples that never reached the DAC: dropped at the node.
    missing: u64,
    stored: u64,
    not_stored: u64,
    bytes: u64,
    p50: Duration,
    p99: Duration,
    cpu: f64,
}

impl Archive {
    pub(super) fn load(&self) -> anyhow::Result<String> {
        let (mut without, mut with) = (Vec::new(), Vec::new());
        for pair in 1..=self.pairs {
            progress(format_args!("{} samples/s, pair {pair} of {}", self.hertz, self.pairs));
            // Which one comes first takes turns: the machine may be warming up.
            for is_archived in if pair % 2 == 1 { [false, true] } else { [true, false] } {
                let run = self.one(is_archived)?;
                if is_archived { with.push(run) } else { without.push(run) }
            }
        }
        Ok(self.report(&without, &with))
    }

    fn one(&self, is_archived: bool) -> anyhow::Result<Run> {
        let folder = self.new_folder()?;
        let served = RunningServer::archiving(is_archived.then(|| folder.path()))?;
        let Station { mut served, mut crowd } = Station::over(served, Dialect::Native, self.subscribers)?;
        let address = served.address.to_string();
        crowd.count_into(Tally::with_ages()?);
        let length = Duration::from_secs(self.length_s);
        let (began, cpu) = (Instant::now(), served.server.cpu()?);
        served.order(Order::Run { hertz: self.hertz, length })?;
        crowd.linger(length)?;
        let cpu = (served.server.cpu()? - cpu).as_secs_f64() / began.elapsed().as_secs_f64();
        crowd.linger(DRAIN_TIME)?;
        let ages = crowd.tally.ages().context("no ages")?;
        let mut stored = (0, 0, 0);
        if is_archived {
            dac_http::text(&address, "POST", "/api/v1/archive/flush")?;
            let archive = dac_http::get(&address, "/api/v1/archive")?;
            let number = |name: &str| archive[name].as_u64().unwrap_or_default();
            stored = (number("stored"), number("missing"), bytes_in(folder.path())?);
        }
        let ledger = dac_http::ledger(&address, INSTANCE)?.context("the DAC does not know its node")?;
        let number = |name: &str| ledger[name].as_u64().unwrap_or_default();
        Ok(Run {
            samples: number("received"),
            lost: crowd.lost(),
            missing: number("missing"),
            stored: stored.0,
            not_stored: stored.1,
            bytes: stored.2,
            p50: ages.p50,
            p99: ages.p99,
            cpu,
        })
    }

    fn report(&self, without: &[Run], with: &[Run]) -> String {
        let mut table = Table::new([
            "archive",
            "samples/s",
            "dropped at the node",
            "lost at subscribers",
            "stored",
            "not stored",
            "bytes a sample",
            "p50",
            "p99",
            "server CPU",
        ]);
        for (name, runs) in [("no", without), ("yes", with)] {
            for run in runs {
                let is_stored = name == "yes";
                let only = |text: String| if is_stored { text } else { "–".into() };
                table.row(vec![
                    name.into(),
                    short(run.samples as f64 / self.length_s as f64),
                    run.missing.to_string(),
                    run.lost.to_string(),
                    only(run.stored.to_string()),
                    only(run.not_stored.to_string()),
                    only(format!("{:.2}", run.bytes as f64 / run.stored.max(1) as f64)),
                    millis(run.p50),
                    millis(run.p99),
                    percent(run.cpu),
                ]);
            }
        }
        let p99 = |runs: &[Run]| runs.iter().map(|run| run.p99.as_secs_f64()).collect::<Vec<_>>();
        let pairs = ratios(&p99(with), &p99(without));
        let (low, high) = spread(&pairs).unwrap_or_default();
        format!(
            "## Under load\n\nA pushed processor probe (seven counters) in a node's process, {} samples a second for {} s, TCP, a DAC with one shard, {} subscribers that take native batches. \
             Age is the time from the encoding of a batch at the node to the read at the subscriber. DAC and archive run on one core, node and subscribers on the other. Runs with and without archive alternate, in both orders.\n\n\
             {table}\nRatio of the p99 age with archive to that without, pair by pair: median {} ({low:.2} to {high:.2}); the target is at most 1.2. Bytes include all files in the folder, with roll-ups and catalogue but without the reserve.\n",
            self.hertz,
            self.length_s,
            self.subscribers,
            ratio(median(&pairs)),
        )
    }
}

/// Bytes of all files in a folder.
pub(super) fn bytes_in(folder: &Path) -> anyhow::Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        // The reserve for a start on a full disk is the same however much is stored.
        if entry.file_name() != "reserve" {
            bytes += entry.metadata().map_or(0, |found| found.len());
        }
    }
    Ok(bytes)
}
