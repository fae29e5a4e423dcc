//! End of a recording.

use crate::past::Past;
use oasis_history::{HistoryPart, NextStep, Reader};
use oasis_store::ReadError;
use oasis_wire::batch::Header;

/// Bytes to read of an instance: its last batch.
const LAST_BATCH_BYTES: usize = 1;

/// Returns the newest DAC time of all instances, of samples that are older than `until`. Up to then the past would have anything that was sent.
pub fn newest_dac_time(past: &Past, until: Option<u64>) -> Result<u64, ReadError> {
    let mut newest = past.frontier.filter(|_| until.is_none()).unwrap_or_default();
    for (node, instance) in past.instances()? {
        newest = newest.max(last_dac_time(past, past.newest((&node, &instance), until))?);
    }
    Ok(newest)
}

/// Returns the newest DAC time of these instances.
///
/// # Errors
/// If the archive cannot be read.
pub fn newest_dac_time_of<'a>(
    past: &Past,
    instances: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<u64, ReadError> {
    let mut newest = 0;
    for names in instances {
        newest = newest.max(last_dac_time(past, past.newest(names, None))?);
    }
    Ok(newest)
}

fn last_dac_time(past: &Past, mut reader: Reader) -> Result<u64, ReadError> {
    let mut newest = 0;
    loop {
        let read = reader.read(LAST_BATCH_BYTES)?;
        match read.then {
            NextStep::Flush => past.flush(),
            NextStep::TimeEnd | NextStep::ArchiveEnd | NextStep::Log { .. } if read.pieces.is_empty() => {
                return Ok(newest);
            }
            NextStep::More | NextStep::TimeEnd | NextStep::ArchiveEnd | NextStep::Log { .. } => {}
        }
        for (piece, _) in read.pieces {
            if let HistoryPart::Samples(batch) = piece
                && let Ok(header) = Header::parse(&batch.bytes)
            {
                newest = newest.max(header.dac_time);
            }
        }
    }
}
