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

/// Fields that a report names.
const MAX_NAMED_FIELDS: usize = 100;

/// Imports the samples of a file, and the causes of losses that it names. Returns whether it has nothing else.
///
/// # Errors
/// If no part of it is reliable, or it has no message that can be read.
pub fn add(path: &Path, reader: &Reader, prefix: &str, import: &mut Import) -> anyhow::Result<bool> {
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
    if is_empty {
        bail!(no_messages(&rest));
    }
    let is_complete = rest.is_complete();
    for lost in rest.lost {
        let node = node_of(lost.node.as_deref(), prefix).into();
        import.lose((node, lost.instance.into()), lost.run, lost.numbers, lost.cause);
    }
    Ok(is_complete)
}

/// Says why a file without samples is refused.
pub fn no_messages(rest: &Rest) -> &'static str {
    match &rest.damage {
        Some(damage) if damage.is_loss() => "the file is damaged, and has no other messages",
        _ if rest.left_out.is_empty() => "the file has no messages",
        _ => "no readable messages: only JSON messages and those of ROS 2 are supported",
    }
}

/// Reports the content of a file that its samples do not have, on standard error.
pub fn report_rest(path: &Path, rest: &Rest) {
    if let Some(damage) = &rest.damage {
        eprintln!("{}: {}", path.display(), Visible(&damage.to_string()));
    }
    if rest.lost_forgotten > 0 {
        eprintln!("{}: causes of {} more losses skipped: too many", path.display(), rest.lost_forgotten);
    }
    for left_out in &rest.left_out {
        let why = left_out.why.to_string();
        eprintln!("{}: {} messages skipped: {}", Visible(&left_out.topic), left_out.messages, Visible(&why));
    }
    for field in rest.fields.iter().take(MAX_NAMED_FIELDS) {
        eprintln!("{}", Visible(&field.to_string()));
    }
    if let Some(more @ 1..) = rest.fields.len().checked_sub(MAX_NAMED_FIELDS) {
        eprintln!("{}: {more} more fields with absent, rounded or skipped values", path.display());
    }
    for column in rest.columns.iter().take(MAX_NAMED_FIELDS) {
        eprintln!("{}", Visible(&column.to_string()));
    }
    for (topic, instance) in &rest.apart {
        eprintln!("{}: imported as the instance {}", Visible(topic), Visible(instance));
    }
}

fn node_of(node: Option<&str>, prefix: &str) -> String {
    node.map_or_else(|| prefix.to_owned(), |node| of_recording(prefix, node))
}

/// The import assigns an epoch.
fn series_of(recorded: &RecordedSeries, prefix: &str) -> Series {
    let RecordedSeries { node, instance, kind, run, probe_type } = recorded.clone();
    let node = node_of(node.as_deref(), prefix).into();
    Series { node, instance, kind, run, epoch: Epoch(0), probe_type }
}
