//! Memory of an idle subscriber.

use super::progress;
use crate::{
    child::Child,
    cpu,
    order::Order,
    station::{CONTENDERS, Contender, RunningServer},
    table::Table,
};
use clap::{Args, ValueEnum};
use std::{thread, time::Duration};

/// Files that a process has open besides its connections.
const OTHER_FILES: u64 = 200;
/// Connections of one client process at most: a source address has 28,000 ports, and each process needs files too.
const EACH: u64 = 10_000;
/// Time for a server to finish its subscriptions.
const SETTLE_TIME: Duration = Duration::from_millis(500);

/// Memory of idle subscribers.
#[derive(Debug, Clone, Args)]
pub struct Idle {
    /// Connections; fewer if the limit of open files (`ulimit -Hn`) does not allow as many.
    #[arg(long, default_value_t = 100_000)]
    connections: u64,
}

struct Memory {
    baseline: u64,
    full: u64,
}

impl Idle {
    /// Measures, and returns a section of the report.
    pub fn run(&self) -> anyhow::Result<String> {
        let limit = cpu::raise_open_files()?;
        let count = self.connections.min(limit.saturating_sub(OTHER_FILES));
        let mut table = Table::new(["server", "RSS before", "RSS with subscribers", "bytes a subscriber"]);
        for contender in CONTENDERS {
            progress(format_args!("{count} idle subscribers of {}", contender.name));
            match measure(contender, count) {
                Ok(memory) => table.row(memory.row(contender.name, count)),
                Err(error) => eprintln!("  {} skipped: {error:#}", contender.name),
            }
        }
        let asked = if count < self.connections {
            format!(" ({} requested; the limit of open files is {limit})", self.connections)
        } else {
            String::new()
        };
        Ok(format!(
            "## Idle subscribers\n\n{count} connections{asked} from several processes and addresses, each subscribed, after one message to all. \
             Memory is user memory (`VmRSS`) without socket buffers of the kernel, which are the same for all servers.\n\n{table}"
        ))
    }
}

impl Memory {
    fn row(&self, name: &str, count: u64) -> Vec<String> {
        let mib = |bytes: u64| format!("{:.1} MiB", bytes as f64 / 1_048_576.0);
        let each = self.full.saturating_sub(self.baseline) / count.max(1);
        vec![name.into(), mib(self.baseline), mib(self.full), each.to_string()]
    }
}

fn measure(contender: Contender, count: u64) -> anyhow::Result<Memory> {
    let mut served = contender.serve(None)?;
    let baseline = served.server.resident()?;
    let subscribers = subscribe(contender, &served, count)?;
    served.order(Order::Round { burst: 1 })?;
    thread::sleep(SETTLE_TIME);
    let full = served.server.resident()?;
    drop(subscribers);
    Ok(Memory { baseline, full })
}

/// Client processes, as many as it takes.
fn subscribe(contender: Contender, served: &RunningServer, count: u64) -> anyhow::Result<Vec<Child>> {
    let value = contender.dialect().to_possible_value();
    let dialect = value.as_ref().map_or("plain", |value| value.get_name());
    let mut children = Vec::new();
    for process in 0..count.div_ceil(EACH) {
        let part = EACH.min(count - process * EACH).to_string();
        let (address, source) = (served.address.to_string(), format!("127.0.0.{}", process + 2));
        let arguments = ["subscribe", &address, "--source", &source, "--count", &part, "--dialect", dialect];
        children.push(Child::lab(cpu::CLIENTS, &arguments)?);
    }
    Ok(children)
}
