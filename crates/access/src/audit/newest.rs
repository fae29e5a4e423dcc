//! Reads the newest records first, a bounded part of the log at a time.

use super::{chain::Chain, error::AuditError, record::Record, verify::Snapshot};
use std::{
    collections::VecDeque,
    fs::File,
    io::{BufReader, Read},
    path::Path,
};

/// Most bytes of one look, unless a single file has more.
const MAX_READ_BYTES: u64 = 64 << 20;

/// A part of the log.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NewestRecords {
    /// The wanted ones, newest first.
    pub records: Vec<Record>,
    /// Start of the next part: it has records with smaller numbers. None at the beginning of the log.
    pub next: Option<u64>,
}

/// Returns the newest wanted records before `before`, newest first, at most `most`. It may return fewer than there are;
/// the next part then starts at `next`. Lines that are no records are skipped.
///
/// # Errors
/// If a file cannot be read.
pub fn newest_records(
    folder: &Path,
    before: Option<u64>,
    most: usize,
    mut is_wanted: impl FnMut(&Record) -> bool,
) -> Result<NewestRecords, AuditError> {
    let snapshot = Snapshot::take(folder)?;
    let before = before.unwrap_or(u64::MAX);
    let mut found = NewestRecords::default();
    let mut read = 0;
    for (log, size) in snapshot.files.iter().rev().filter(|(log, _)| log.first < before) {
        if found.records.len() >= most || (read > 0 && read + size > MAX_READ_BYTES) {
            return Ok(found);
        }
        read += size;
        let failed = || AuditError::io("read", &log.path);
        let file = File::open(&log.path).map_err(failed())?;
        let mut chain = Chain::new(BufReader::new(file.take(*size)), None);
        let room = most - found.records.len();
        let mut newest: VecDeque<Record> = VecDeque::new();
        let mut is_cut = false;
        while let Some(step) = chain.step().map_err(failed())? {
            let Some((record, _)) = step.record else { continue };
            if record.seq >= before || !is_wanted(&record) {
                continue;
            }
            if newest.len() == room {
                newest.pop_front();
                is_cut = true;
            }
            newest.push_back(record);
        }
        let oldest = newest.front().map(|record| record.seq).filter(|_| is_cut);
        found.next = Some(oldest.unwrap_or(log.first));
        found.records.extend(newest.into_iter().rev());
    }
    let first = snapshot.files.first().map(|(log, _)| log.first);
    // Everything was read, unless the last file had more than there was room for.
    found.next = found.next.filter(|next| first.is_some_and(|first| *next > first));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AuditLimits, AuditLog, Event};

    #[test]
    fn pages_go_back_through_all_files_and_end() {
        let folder = tempfile::tempdir().unwrap();
        let limits = AuditLimits { file_bytes: 8 << 10, ..AuditLimits::default() };
        let log = AuditLog::open(folder.path(), limits).unwrap();
        for number in 0..60 {
            let action = if number % 3 == 0 { "sign-in" } else { "command:hertz" };
            log.append(Event { target: "x".repeat(300), ..Event::new("person:ada", action, "done") })
                .unwrap();
        }
        assert!(crate::verify(folder.path(), None).unwrap().files > 2);
        let page = |before, most| {
            newest_records(folder.path(), before, most, |record| record.action == "sign-in").unwrap()
        };
        let mut seen = Vec::new();
        let mut before = None;
        loop {
            let found = page(before, 7);
            assert!(found.records.len() <= 7);
            seen.extend(found.records.iter().map(|record| record.seq));
            before = found.next;
            if before.is_none() {
                break;
            }
        }
        let wanted: Vec<u64> = (1..=60).rev().filter(|seq| (seq - 1) % 3 == 0).collect();
        assert_eq!(seen, wanted);
        assert_eq!(page(None, 1_000).next, None);
    }
}
