//! How far a recording goes.

use oasis_history::{NextStep, Piece, Reader, Start};
use oasis_store::{History, Newest, ReadError};
use oasis_wire::batch::Header;

/// Bytes that are read of an instance: its last batch.
const READ: usize = 1;

/// Returns the newest DAC time of all instances, of samples that are older than `until`. Up to then the recording would have anything that was sent.
///
/// # Errors
/// If the archive cannot be read.
pub fn newest_dac_time(history: &History, until: Option<u64>) -> Result<u64, ReadError> {
    let mut newest = 0;
    for (node, instance) in history.instances()? {
        let start = Start::Newest(Newest::new(0..until.unwrap_or(u64::MAX), 1));
        let reader = Reader::new(&node, &instance, start).with_archive(history.clone()).until(until);
        newest = newest.max(last_dac_time(reader)?);
    }
    Ok(newest)
}

fn last_dac_time(mut reader: Reader) -> Result<u64, ReadError> {
    let mut newest = 0;
    loop {
        let read = reader.read(READ)?;
        if read.pieces.is_empty() && matches!(read.then, NextStep::TimeEnd | NextStep::ArchiveEnd) {
            return Ok(newest);
        }
        for (piece, _) in read.pieces {
            if let Piece::Samples(batch) = piece
                && let Ok(header) = Header::parse(&batch.bytes)
            {
                newest = newest.max(header.dac_time);
            }
        }
    }
}
