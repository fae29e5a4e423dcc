//! Instructions of one flush, counted by callgrind: which do not depend on the load of the machine.

use crate::{scenarios::progress, servers::sample, table::Table};
use anyhow::Context;
use clap::ValueEnum;
use oasis_probe::{Deadbands, NodeBuilder, NodeConfig, NodeError, Overflow, PushedProbe, RingConfig};
use oasis_probes::LinuxProcessorProbe;
use std::{env, hint::black_box, process::Command, time::Duration};

/// Flushes of the first run; the second has twice as many, so that the difference excludes start and end of the process.
const FLUSHES: u64 = 2_000;
/// Room for all of them.
const RING: usize = 1024 * 1024;
/// Room for a few.
const SMALL_RING: usize = 4 * 1024;

/// The situation of a flush.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Flush {
    /// A ring with room.
    Room,
    /// A full ring that drops the newest.
    Full,
    /// A full ring that drops the oldest.
    Overwriting,
    /// A full ring whose producer may wait, for no time at all.
    Block,
    /// A probe on change, with a change.
    Changed,
    /// A probe on change, within seven deadbands.
    Still,
}

impl Flush {
    fn probe(self, builder: &mut NodeBuilder) -> Result<PushedProbe<LinuxProcessorProbe>, NodeError> {
        let small = |overflow| RingConfig { bytes: SMALL_RING, overflow };
        match self {
            Self::Room => builder.pushed("probe", RING),
            Self::Full => builder.pushed("probe", small(Overflow::DropNewest)),
            Self::Overwriting => builder.pushed("probe", small(Overflow::DropOldest)),
            Self::Block => builder.pushed("probe", small(Overflow::Block(Duration::ZERO))),
            Self::Changed => builder.on_change("probe", Deadbands::any_change(), RING),
            Self::Still => builder.on_change("probe", never(), RING),
        }
    }

    /// Flushes without a reader of the ring, so that runs are identical.
    pub fn run(self, flushes: u64) -> anyhow::Result<()> {
        let mut probe = self.probe(&mut NodeBuilder::new("count", NodeConfig::default()))?;
        for number in 0..flushes {
            black_box(probe.flush_at(number, black_box(&sample(number))));
        }
        Ok(())
    }

    fn name(self) -> &'static str {
        match self {
            Self::Room => "drop newest, with room",
            Self::Full => "drop newest, ring full",
            Self::Overwriting => "drop oldest, overwriting",
            Self::Block => "block(0), ring full",
            Self::Changed => "on change, kept",
            Self::Still => "on change, within seven deadbands",
        }
    }
}

/// Deadbands that no change exceeds.
pub fn never() -> Deadbands {
    let moving = ["idle_time", "system_time", "user_time", "iowait_time", "soft_irq_time"];
    moving.into_iter().fold(Deadbands::any_change(), |bands, metric| bands.with(metric, f64::INFINITY))
}

/// Returns a table of counts.
pub fn measure() -> anyhow::Result<String> {
    let mut table = Table::new(["flush of 7 metrics, its time given", "instructions"]);
    for flush in Flush::value_variants() {
        progress(format_args!("instructions of a flush: {}", flush.name()));
        let (once, twice) = (count(*flush, FLUSHES)?, count(*flush, 2 * FLUSHES)?);
        let each = twice.saturating_sub(once) as f64 / FLUSHES as f64;
        table.row(vec![flush.name().into(), format!("{each:.0}")]);
    }
    Ok(format!(
        "## Instructions of one flush\n\nCounted by callgrind, including the construction of the sample: the difference between runs of {} and {FLUSHES} flushes, per flush. Clock reads are not included.\n\n{table}",
        2 * FLUSHES
    ))
}

fn count(flush: Flush, flushes: u64) -> anyhow::Result<u64> {
    let name = flush.to_possible_value().context("each has a name")?;
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(env::current_exe()?);
    valgrind.args(["flush", name.get_name(), &flushes.to_string()]);
    let ran =
        valgrind.output().context("cannot run valgrind: install it (Debian: apt-get install valgrind)")?;
    let said = String::from_utf8_lossy(&ran.stderr);
    let collected = said.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok());
    collected.with_context(|| format!("callgrind counted nothing ({}):\n{said}", ran.status))
}
