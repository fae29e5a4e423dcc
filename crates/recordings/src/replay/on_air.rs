//! An instance during the replay of a run: collects its samples into batches, and reports missing sequence numbers.

use super::{error::ReplayError, outbox::Message, track::RecordedSample};
use oasis_channel::{InstanceState, RegisteredInstance};
use oasis_probe::now_ns;
use oasis_store::{Missing, Series};
use oasis_wire::{
    batch::{Encoder, Fields},
    loss::Cause,
    quantity::TopicId,
    schema::ProbeType,
};
use std::sync::Arc;

/// Approximate bytes of a batch.
const BATCH: usize = 64 * 1024;
/// Cause of samples that are missing in the recording itself.
const NOT_RECORDED: Cause = Cause::NotRecorded;

/// An instance in the run that is replayed.
pub struct OnAir {
    series: Arc<Series>,
    /// Its topic, once the DAC has assigned one on this connection.
    pub topic: Option<TopicId>,
    encoder: Encoder,
    /// Sequence number of the first collected sample.
    first_sequence: u64,
    state: u16,
    /// The last sequence number that was collected or reported missing.
    last: u64,
}

impl OnAir {
    /// Creates an instance of which the DAC has received everything up to this sequence number.
    pub fn new(series: Arc<Series>, last: u64) -> Result<Self, ReplayError> {
        let encoder = Encoder::new(&series.probe_type)?;
        Ok(Self { series, topic: None, encoder, first_sequence: 0, state: 0, last })
    }

    /// Its registration with the DAC.
    pub fn announcement(&self) -> (Arc<ProbeType>, RegisteredInstance) {
        let Series { instance, kind, probe_type, .. } = &*self.series;
        let announced = RegisteredInstance {
            name: instance.as_ref().into(),
            probe_type: probe_type.uuid,
            kind: *kind,
            demand: None,
            declared: None,
            state: InstanceState { hertz: None, enabled: true, recorder: None },
        };
        (probe_type.clone(), announced)
    }

    /// The last sequence number that was collected or reported missing.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// Whether a sample has the registered type.
    pub fn is_of_type(&self, next: &RecordedSample) -> bool {
        self.series.probe_type == next.series.probe_type
    }

    /// Returns the missing ranges before a sample, each with its last number.
    pub fn missing_before(&mut self, next: &RecordedSample) -> Vec<(Message, u64)> {
        let up_to = next.sequence.saturating_sub(1);
        let mut pieces = self.missing(&next.missing, up_to);
        // The run began before the recording, or before the replayed part.
        let rest = up_to.saturating_sub(self.last);
        pieces.extend(self.missing_range(rest, NOT_RECORDED, up_to));
        pieces
    }

    /// Returns the missing ranges after the last sample, each with its last number.
    pub fn missing_after(&mut self, missing: &[Missing]) -> Vec<(Message, u64)> {
        self.missing(missing, u64::MAX)
    }

    fn missing(&mut self, missing: &[Missing], up_to: u64) -> Vec<(Message, u64)> {
        let run = self.series.run;
        let mut pieces = Vec::new();
        // Before the first sample of a run there may be others that are not recorded.
        for missing in missing.iter().filter(|missing| missing.run == run) {
            let mut count = missing.count;
            if let Some(numbers) = &missing.numbers {
                let ahead = numbers.start().saturating_sub(1).saturating_sub(self.last);
                pieces.extend(self.missing_range(ahead, NOT_RECORDED, up_to));
                count = numbers.end().saturating_sub(self.last);
            }
            pieces.extend(self.missing_range(count, cause_of(missing), up_to));
        }
        pieces
    }

    fn missing_range(&mut self, count: u64, cause: Cause, up_to: u64) -> Option<(Message, u64)> {
        let to = self.last.saturating_add(count).min(up_to);
        let from_sequence = self.last.checked_add(1).filter(|from| *from <= to)?;
        self.last = to;
        Some((Message::Missing { from_sequence, cause }, to))
    }

    /// Whether the collected samples must be sent before this sample or the gap before it.
    pub fn is_full(&self, next: &RecordedSample) -> bool {
        let has_room = self.encoder.bytes_held() + next.row.len() <= BATCH;
        !has_room || self.state != next.state || self.last.checked_add(1) != Some(next.sequence)
    }

    /// Adds a sample with this time.
    pub fn push(&mut self, next: &RecordedSample, time: u64) -> Result<(), ReplayError> {
        if self.encoder.is_empty() {
            (self.first_sequence, self.state) = (next.sequence, next.state);
        }
        self.last = next.sequence;
        Ok(self.encoder.push(time, &next.row)?)
    }

    /// Returns the collected samples as a batch, with its last number. Its topic is set when it is sent.
    pub fn batch(&mut self) -> Option<(Message, u64)> {
        if self.encoder.is_empty() {
            return None;
        }
        let fields = Fields {
            topic: 0,
            state: self.state,
            first_sequence: self.first_sequence,
            node_time: now_ns(),
            dropped_before: 0,
        };
        let mut bytes = Vec::new();
        self.encoder.finish(fields, &mut bytes);
        Some((Message::Batch { bytes, samples: self.last - self.first_sequence + 1 }, self.last))
    }
}

/// Maps causes of the archive, and unknown ones, to the cause for the ledger of the DAC.
fn cause_of(missing: &Missing) -> Cause {
    let is_known = missing.cause.is_of_ledger() && missing.cause != Cause::Unexplained;
    if is_known { missing.cause } else { NOT_RECORDED }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oasis_wire::{probe_kind::ProbeKind, quantity::Epoch};
    use uuid::Uuid;

    const RUN: Uuid = Uuid::from_u128(1);

    fn series() -> Arc<Series> {
        let json = r#"{"name": "Beat", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11", "version": "1.0", "metrics": []}"#;
        Arc::new(Series {
            node: "plant".into(),
            instance: "beat".into(),
            kind: ProbeKind::Pushed,
            run: RUN,
            epoch: Epoch(1),
            probe_type: Arc::new(serde_json::from_str(json).unwrap()),
        })
    }

    fn sample(sequence: u64, missing: Vec<Missing>) -> RecordedSample {
        RecordedSample { series: series(), state: 0, sequence, time: sequence, row: Vec::new(), missing }
    }

    #[test]
    fn losses_at_the_start_of_a_run_keep_their_numbers() {
        let mut on_air = OnAir::new(series(), 0).unwrap();
        let lost = Missing { numbers: Some(3..=10), ..missing(RUN, 8, Cause::BeforeEpoch) };
        let pieces = ranges(on_air.missing_before(&sample(13, vec![lost.clone()])));
        assert_eq!(pieces, [(1, 2, NOT_RECORDED), (3, 10, Cause::BeforeEpoch), (11, 12, NOT_RECORDED)]);
        on_air.push(&sample(13, Vec::new()), 0).unwrap();
        assert_eq!(ranges(on_air.missing_after(&[lost])), []);
    }

    fn missing(run: Uuid, count: u64, cause: Cause) -> Missing {
        Missing { run, count, cause, numbers: None }
    }

    fn ranges(pieces: Vec<(Message, u64)>) -> Vec<(u64, u64, Cause)> {
        let range = |(piece, to)| match piece {
            Message::Missing { from_sequence, cause } => (from_sequence, to, cause),
            Message::Batch { .. } => unreachable!("only what is missing was asked for"),
        };
        pieces.into_iter().map(range).collect()
    }

    #[test]
    fn every_number_before_a_sample_is_reported_once_with_its_cause() {
        let mut on_air = OnAir::new(series(), 0).unwrap();
        let first = sample(41, vec![missing(Uuid::from_u128(9), 7, Cause::Network)]);
        assert_eq!(ranges(on_air.missing_before(&first)), [(1, 40, NOT_RECORDED)]);
        on_air.push(&first, 0).unwrap();
        let lost = vec![
            missing(RUN, 2, Cause::RingFull),
            missing(RUN, 3, Cause::Damaged),
            missing(RUN, 90, Cause::Network),
        ];
        let pieces = ranges(on_air.missing_before(&sample(50, lost)));
        assert_eq!(pieces, [(42, 43, Cause::RingFull), (44, 46, NOT_RECORDED), (47, 49, Cause::Network)]);
        on_air.push(&sample(50, Vec::new()), 0).unwrap();
        assert_eq!(ranges(on_air.missing_before(&sample(51, Vec::new()))), []);
        let after = [missing(RUN, 3, Cause::NodeRestart), missing(RUN, u64::MAX, Cause::Unexplained)];
        let pieces = ranges(on_air.missing_after(&after));
        assert_eq!(pieces, [(51, 53, Cause::NodeRestart), (54, u64::MAX, NOT_RECORDED)]);
        assert_eq!(ranges(on_air.missing_after(&after)), []);
    }

    #[test]
    fn a_batch_has_its_number_of_samples() {
        let mut on_air = OnAir::new(series(), 6).unwrap();
        (7..=9).for_each(|sequence| on_air.push(&sample(sequence, Vec::new()), sequence).unwrap());
        let (batch, last) = on_air.batch().unwrap();
        assert!(matches!(batch, Message::Batch { samples: 3, .. }) && last == 9, "{batch:?} {last}");
        assert_eq!(on_air.batch(), None);
    }
}
