//! One cell: connect everybody, send samples, measure, end all processes.

use super::{limits::Limits, settings::Settings, site::Site, watchers::Watchers};
use crate::{
    cpu,
    experiment::{CellContext, Measured},
};
use std::{
    path::Path,
    thread,
    time::{Duration, Instant},
};

/// Time without reports after which no more are expected.
const SETTLE_TIME: Duration = Duration::from_secs(1);
/// Bytes in a mebibyte.
const MIB: f64 = 1_048_576.0;

/// Measures.
pub fn measure(settings: &Settings, folder: &Path, context: &CellContext<'_>) -> anyhow::Result<Measured> {
    Limits::here()?.check(settings)?;
    let mut site = Site::start(settings, folder)?;
    let (before, _) = site.memory()?;
    // A client that comes is sent this one at once: it tells that its subscription has begun.
    site.send()?;
    let mut measured = Measured::default();
    let (began, mut held) = (Instant::now(), Vec::new());
    let mut watchers = Watchers::new(context.interrupt);
    let parts: Vec<_> = site.relays()?.into_iter().zip(settings.parts()).collect();
    watchers.connect(&parts, |served| held.push((began.elapsed().as_secs_f64(), served as f64)))?;
    let connect = began.elapsed();
    watchers.settle(SETTLE_TIME)?;
    let (cpu, mut times) = (site.cpu()?, Vec::new());
    for sample in 2..2 + settings.samples {
        site.send()?;
        let (is_there, time) = watchers.wait_for(sample)?;
        if !is_there {
            measured.notes.push(format!("sample {sample} did not come to all"));
        }
        times.push(time.as_secs_f64());
        thread::sleep(SETTLE_TIME);
    }
    let cpu = site.cpu()? - cpu;
    let seen = watchers.settle(SETTLE_TIME)?;
    let (resident, proportional) = site.memory()?;
    let clients: u64 = watchers.pids().map(cpu::resident).sum::<Result<u64, _>>()?;
    times.sort_by(f64::total_cmp);
    let each = |bytes: u64| bytes as f64 / seen.served.max(1) as f64;
    let deliveries = seen.served as f64 * f64::from(settings.samples);
    measured.measures.extend(
        [
            ("held", seen.served as f64),
            ("ended", seen.ended as f64),
            ("relays", parts.len() as f64),
            ("lost", seen.lost as f64),
            ("twice", seen.twice as f64),
            ("connect_s", connect.as_secs_f64()),
            ("sample_to_all_s", times.get(times.len() / 2).copied().unwrap_or_default()),
            ("sample_to_all_s_min", times.first().copied().unwrap_or_default()),
            ("sample_to_all_s_max", times.last().copied().unwrap_or_default()),
            ("memory_bytes_per_watcher", each(proportional)),
            ("resident_bytes_per_watcher", each(resident)),
            ("grown_bytes_per_watcher", each(resident.saturating_sub(before))),
            ("memory_mib_before", before as f64 / MIB),
            ("memory_mib", proportional as f64 / MIB),
            ("clients_mib", clients as f64 / MIB),
            ("deliveries_per_cpu_second", deliveries / cpu.as_secs_f64().max(1e-3)),
        ]
        .map(|(name, value)| (name.to_owned(), value)),
    );
    measured.series.insert("held".into(), held);
    measured.notes.extend(seen.reason.map(|reason| format!("{} clients ended: {reason}", seen.ended)));
    Ok(measured)
}
