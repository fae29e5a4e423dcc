//! Imports MCAP files.

use super::of_recording;
use crate::progress::Progress;
use anyhow::bail;
use oasis_format::{
    Reader,
    mcap::{RecordedSeries, Rest},
    visible::Visible,
};
use oasis_import::Import;
use oasis_store::Series;
use oasis_wire::quantity::Epoch;
use std::{fs::File, path::Path};

/// Imports the samples of a file, and the causes of losses that it names.
///
/// # Errors
/// If it is damaged, or has no message that can be read.
pub fn add(path: &Path, reader: &Reader, prefix: &str, import: &mut Import) -> anyhow::Result<()> {
    let (mut is_empty, mut batches) = (true, 0_u64);
    let mut progress = Progress::new();
    let rest = (reader.read)(&mut File::open(path)?, &mut |recorded, batch| {
        is_empty = false;
        batches += 1;
        progress.show(|| format!("{}: {batches} batches", path.display()));
        Ok(import.add(&series_of(recorded, prefix), batch)?)
    })?;
    progress.clear();
    report_rest(path, &rest);
    for lost in rest.lost {
        let node = of_recording(prefix, &lost.node).into();
        import.lose((node, lost.instance.into()), lost.run, lost.numbers, lost.cause);
    }
    if is_empty {
        bail!("no readable messages: only JSON messages and those of ROS 2 are supported")
    } else {
        Ok(())
    }
}

/// Says what of a file cannot be read.
pub fn report_rest(path: &Path, rest: &Rest) {
    if rest.lost_forgotten > 0 {
        eprintln!("{}: causes of {} more losses skipped: too many", path.display(), rest.lost_forgotten);
    }
    for left_out in &rest.left_out {
        let why = left_out.why.to_string();
        eprintln!("{}: {} messages skipped: {}", Visible(&left_out.topic), left_out.messages, Visible(&why));
    }
}

/// The import assigns an epoch.
fn series_of(recorded: &RecordedSeries, prefix: &str) -> Series {
    let RecordedSeries { node, instance, kind, run, probe_type } = recorded.clone();
    let node = node.map_or_else(|| prefix.into(), |node| of_recording(prefix, &node).into());
    Series { node, instance, kind, run, epoch: Epoch(0), probe_type }
}
