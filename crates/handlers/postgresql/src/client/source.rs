//! Reads the next samples of an instance: from its topic log, or from the archive if the log has evicted them.

use oasis_dac::{Gap, Instance, Wake};
use oasis_handler::{InstanceLog, StoredSamples};
use oasis_history::{Batch, HistoryPart, NextStep, Reader, Start};
use oasis_store::ReadError;
use oasis_wire::quantity::{Nanos, Offset, Position};
use std::sync::Arc;

/// Bytes read from the archive at once.
const READ_CHUNK_BYTES: usize = 1024 * 1024;

/// A position in an instance's samples. While it lives, the log wakes its reader.
#[derive(Debug)]
pub struct Source {
    pub instance: Arc<Instance>,
    reader: Reader,
    /// Position of the next sample.
    at: Position,
    /// Gaps of its ledger that are in the database, or were forgotten before.
    pub gaps_listed: u64,
    wake: Arc<dyn Wake>,
}

/// Result of a read.
#[derive(Debug, Default)]
pub struct ReadResult {
    pub batches: Vec<Batch>,
    /// Samples that neither log nor archive has any more.
    pub missing: u64,
}

impl Source {
    /// Starts at the position where an earlier run has stopped, or at the first sample that this DAC received.
    pub fn new(
        instance: Arc<Instance>,
        stopped: Option<Position>,
        archive: Option<&Arc<dyn StoredSamples>>,
        wake: Arc<dyn Wake>,
    ) -> Self {
        let log = &instance.log;
        // Samples that the log has evicted meanwhile come from the archive, or count as missing.
        let first = || Position { epoch: log.epoch(), offset: log.start() };
        let at = stopped.unwrap_or_else(first);
        let reader = Reader::new(&instance.node, &instance.name, Start::Position(at))
            .with_archive(archive.map(|archive| archive.history()))
            .with_log(Arc::new(InstanceLog(instance.clone())));
        log.add_reader(wake.clone());
        let gaps_listed = instance.ledger().gaps_before();
        Self { instance, reader, at, gaps_listed, wake }
    }

    /// Returns the position of the next sample.
    pub fn position(&self) -> Position {
        self.at
    }

    /// Returns the number of unread samples in the log.
    pub fn behind(&self) -> u64 {
        let log = &self.instance.log;
        let from = if self.at.epoch == log.epoch() { self.at.offset } else { log.state().first_offset };
        log.next().0.saturating_sub(from.0)
    }

    /// Returns the time of arrival of the oldest of them, on the DAC's clock.
    pub fn oldest(&self) -> Option<Nanos> {
        let log = &self.instance.log;
        let from = if self.at.epoch == log.epoch() { self.at.offset } else { Offset(0) };
        log.read(from, 1).segments.first().map(|segment| segment.arrived())
    }

    /// Returns the gaps that are not in the database yet, and what [`Source::gaps_listed`] is once they are.
    pub fn new_gaps(&self) -> (Vec<Gap>, u64) {
        let ledger = self.instance.ledger();
        let all = ledger.gaps_forgotten + ledger.gaps.len() as u64;
        let new = usize::try_from(all.saturating_sub(self.gaps_listed)).unwrap_or(usize::MAX);
        let listed = ledger.gaps.len().saturating_sub(new);
        (ledger.gaps.range(listed..).cloned().collect(), all)
    }

    /// Returns whether it has read all of a retired topic.
    pub fn is_over(&self) -> bool {
        let log = &self.instance.log;
        self.instance.is_retired() && self.at.epoch == log.epoch() && self.at.offset >= log.next()
    }

    /// Reads the next samples.
    ///
    /// # Errors
    /// If the archive cannot be read; the position stays.
    pub async fn read(&mut self, archive: Option<&Arc<dyn StoredSamples>>) -> Result<ReadResult, ReadError> {
        // The handler's thread may block on the disk: it has no other work.
        let mut read = self.reader.read(READ_CHUNK_BYTES)?;
        while let (NextStep::Flush, Some(archive)) = (read.then, archive) {
            // A sample that could not be stored is not found, and the reader learns why.
            drop(archive.flush().await);
            read = self.reader.read(READ_CHUNK_BYTES)?;
        }
        let mut found = ReadResult::default();
        self.at = read.begin;
        for (piece, after) in read.pieces {
            self.at = after;
            match piece {
                HistoryPart::Samples(batch) => found.batches.push(batch),
                HistoryPart::Gap { offsets: Some(offsets), .. } => {
                    found.missing += offsets.end.0 - offsets.start.0;
                }
                HistoryPart::Gap { offsets: None, .. } | HistoryPart::Epoch | HistoryPart::Type(_) => {}
            }
        }
        Ok(found)
    }

    /// Returns to a position: the samples that were read could not be written.
    pub fn go_back(&mut self, to: Position) {
        self.at = to;
        self.reader.seek(to);
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        self.instance.log.remove_reader(&self.wake);
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_dac::TestDac;
    use super::*;
    use oasis_dac::Signal;

    #[test]
    fn a_dropped_source_is_not_woken() {
        let instance = TestDac::new(&["beat"]).dac.registry.find("plant", "beat").unwrap();

        let signal = Arc::new(Signal::default());
        let source = || Source::new(instance.clone(), None, None, signal.clone());
        let first = source();
        let known = Arc::strong_count(&signal);
        assert!(known > 1, "the log knows whom to wake");
        drop(first);
        assert_eq!(Arc::strong_count(&signal), 1);
        // After any number of reconnections.
        let _last = (0..10).fold(source(), |before, _| {
            drop(before);
            source()
        });
        assert_eq!(Arc::strong_count(&signal), known);
    }
}
