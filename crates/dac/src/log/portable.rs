//! Finds a portable position in a topic log: the sample of a run and a sequence number, whatever its offset is here.

use super::TopicLog;
use oasis_wire::{
    batch::Header,
    quantity::{Offset, PortablePosition},
};

impl TopicLog {
    /// Returns the offset of the sample at this position, or where the gap begins in which it is. None if all samples of the run are newer:
    /// the log has evicted the older ones, or another DAC received them.
    pub fn find(&self, at: PortablePosition) -> Option<Offset> {
        let inner = self.lock();
        let of_run = inner.segments.iter().rev().skip_while(|segment| segment.run() != at.run);
        for segment in of_run.take_while(|segment| segment.run() == at.run) {
            let first = Header::parse(segment.batch()).ok()?.first_sequence;
            let end = first.saturating_add(segment.count().into());
            if at.sequence >= end {
                // Not where the next sample is: the offsets between may have been skipped.
                return Some(segment.end());
            }
            if at.sequence >= first {
                return Some(Offset(segment.first_held().0 + (at.sequence - first)));
            }
        }
        None
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
    fn samples_that_another_dac_received_are_not_passed_over() {
        let log = TopicLog::starting_at(Epoch(1), LogBudget::new(usize::MAX, usize::MAX), Offset(100));
        log.begin_run(run(1));
        append(&log, 21, 10);
        assert_eq!((found(&log, 1, 16), found(&log, 1, 21)), (None, Some(100)));
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
