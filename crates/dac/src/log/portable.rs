//! Finds a portable position in a topic log: the sample of a run and a sequence number, whatever its offset is here.

use super::TopicLog;
use oasis_wire::{
    batch::Header,
    quantity::{Offset, PortablePosition},
};

impl TopicLog {
    /// Returns the offset of the sample at this position, or of the first one after it in the same run. None if the log
    /// cannot have all samples from there on: it has evicted the run, or never had it.
    pub fn find(&self, at: PortablePosition) -> Option<Offset> {
        let inner = self.lock();
        let mut found = None;
        for segment in inner.segments.iter().rev() {
            if segment.run() != at.run {
                if found.is_some() {
                    break;
                }
                continue;
            }
            let first = Header::parse(segment.batch()).ok()?.first_sequence;
            let end = first.saturating_add(segment.count().into());
            if at.sequence >= end {
                // Not where the next sample is: the offsets between may have been skipped.
                return Some(segment.end());
            }
            if at.sequence >= first {
                return Some(Offset(segment.first_held().0 + (at.sequence - first)));
            }
            found = Some(segment.first_held());
        }
        // A reader that has samples of the run which are not here has read them from another DAC, from another life of this one, or before they were
        // evicted. The samples that it misses are not known here.
        found.filter(|_| at.sequence == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::LogBudget;
    use oasis_wire::{
        batch::{self, Encoder, Fields},
        quantity::Epoch,
        schema::ProbeType,
        value::RowWriter,
    };
    use uuid::Uuid;

    fn run(number: u128) -> Uuid {
        Uuid::from_u128(number)
    }

    fn append(log: &TopicLog, first: u64, count: u16) {
        let none = Uuid::nil();
        let schema = format!(
            r#"{{"name": "T", "uuid": "{none}", "version": "1.0", "metrics": [{{"name": "x", "type": "real64"}}]}}"#
        );
        let probe_type: ProbeType = serde_json::from_str(&schema).unwrap();
        let mut encoder = Encoder::new(&probe_type).unwrap();
        for number in 0..count {
            let mut row = Vec::new();
            RowWriter::new(&mut row).f64(number.into());
            encoder.push(first + u64::from(number), &row).unwrap();
        }
        let mut bytes = Vec::new();
        encoder.finish(Fields { topic: 1, first_sequence: first, ..Fields::default() }, &mut bytes);
        log.append(bytes, count, |bytes, offset| batch::stamp(bytes, offset.0, 0));
    }

    /// Run 1 has the numbers 1 to 10 and 21 to 30, run 2 the numbers 1 to 5.
    fn log(per_topic: usize) -> TopicLog {
        let log = TopicLog::starting_at(Epoch(1), LogBudget::new(per_topic, usize::MAX), Offset(100));
        log.begin_run(run(1));
        append(&log, 1, 10);
        append(&log, 21, 10);
        log.begin_run(run(2));
        append(&log, 1, 5);
        log
    }

    fn found(log: &TopicLog, of: u128, sequence: u64) -> Option<u64> {
        log.find(PortablePosition { run: run(of), sequence }).map(|offset| offset.0)
    }

    #[test]
    fn a_sample_is_found_by_its_run_and_number() {
        let log = log(usize::MAX);
        assert_eq!([1, 10, 21, 30].map(|number| found(&log, 1, number)), [100, 109, 110, 119].map(Some));
        assert_eq!([1, 5].map(|number| found(&log, 2, number)), [120, 124].map(Some));
    }

    #[test]
    fn a_missing_sample_is_where_its_successor_is() {
        let log = log(usize::MAX);
        assert_eq!(found(&log, 1, 15), Some(110));
        assert_eq!((found(&log, 1, 31), found(&log, 2, 6)), (Some(120), Some(125)));
        assert_eq!(found(&log, 3, 1), None);
    }

    #[test]
    fn a_reader_whose_next_sample_was_skipped_is_where_the_gap_begins() {
        let log = log(usize::MAX);
        log.skip(3);
        append(&log, 9, 1);
        assert_eq!((found(&log, 2, 7), found(&log, 2, 9)), (Some(125), Some(128)));
        assert_eq!(log.read(Offset(125), 9).missed, Some((Offset(125), Offset(128))));
    }

    #[test]
    fn a_log_that_begins_within_a_run_does_not_claim_to_have_what_came_before() {
        let log = TopicLog::starting_at(Epoch(1), LogBudget::new(usize::MAX, usize::MAX), Offset(100));
        log.begin_run(run(1));
        append(&log, 50, 10);
        assert_eq!(
            [1, 20, 50, 60].map(|number| found(&log, 1, number)),
            [Some(100), None, Some(100), Some(110)]
        );
        log.begin_run(run(2));
        append(&log, 7, 3);
        assert_eq!((found(&log, 2, 5), found(&log, 2, 8)), (None, Some(111)));
    }

    #[test]
    fn a_log_that_has_evicted_samples_does_not_claim_to_have_them() {
        let cost = log(usize::MAX).state().bytes;
        let small = log(cost - 1);
        assert_eq!(small.state().evicted, 10);
        assert_eq!(
            (found(&small, 1, 5), found(&small, 1, 21), found(&small, 1, 12)),
            (None, Some(110), None)
        );
        assert_eq!(found(&small, 2, 1), Some(120));
    }
}
