//! The flight recorder of one instance: samples are kept in a bounded memory, and only those around a trigger are
//! sent.

use crate::{
    batch_builder::{BatchBuilder, NewSample},
    flight_recorder::{FlightRecorder, Side, Trigger, TriggerError},
    spool::NewBatch,
    state::ProbeState,
};
use oasis_channel::RecorderSpan;
use oasis_wire::{
    reader::{Malformed, Reader},
    schema::{MetricType, ProbeType},
    value::{self, Value},
};
use std::{collections::VecDeque, time::Duration};

/// The recorder of one instance, owned by the collector thread.
#[derive(Debug)]
pub struct Recorder {
    before_ns: u64,
    after_ns: u64,
    limit_bytes: usize,
    watches: Watches,
    held: VecDeque<BufferedSample>,
    rows: VecDeque<u8>,
    /// Samples taken before this time are sent at once.
    open_until: u64,
    last_sequence: u64,
    /// Samples evicted unsent since the last sent one.
    kept_back: u64,
    /// Samples that were not taken before these.
    not_taken: u64,
    /// Buffer for a row that leaves the memory.
    row: Vec<u8>,
}

/// A sample in the memory; its row is in `rows`, in the same order.
#[derive(Debug, Clone, Copy)]
struct BufferedSample {
    sequence: u64,
    time: u64,
    state: ProbeState,
    row_bytes: u32,
    /// Samples directly before it that were not taken.
    not_taken: u64,
}

impl Recorder {
    /// Creates an empty recorder for samples of this type.
    pub fn new(probe_type: &ProbeType, config: &FlightRecorder) -> Result<Self, TriggerError> {
        let nanos = |duration: Duration| u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        Ok(Self {
            before_ns: nanos(config.before),
            after_ns: nanos(config.after),
            limit_bytes: config.bytes,
            watches: Watches::new(probe_type, &config.triggers)?,
            held: VecDeque::new(),
            rows: VecDeque::new(),
            open_until: 0,
            last_sequence: 0,
            kept_back: 0,
            not_taken: 0,
            row: Vec::new(),
        })
    }

    /// Returns the time that it sends around a trigger.
    pub fn span(&self) -> RecorderSpan {
        let seconds = |nanos| Duration::from_nanos(nanos).as_secs_f64();
        RecorderSpan { before_s: seconds(self.before_ns), after_s: seconds(self.after_ns) }
    }

    /// Returns the last sequence number seen or assigned.
    pub fn last_sequence(&self) -> u64 {
        self.last_sequence
    }

    /// Handles a sample: keeps it, or sends it if a trigger has fired recently.
    pub fn take(&mut self, taken: NewSample<'_>, filling: &mut BatchBuilder, out: &mut Vec<NewBatch>) {
        let sequence = taken.sequence.unwrap_or(self.last_sequence + 1 + taken.not_taken);
        self.last_sequence = sequence;
        let fires = self.watches.is_crossed_by(taken.row);
        if fires {
            self.fire(taken.time, filling, out);
        }
        if fires || taken.time < self.open_until {
            self.send(NewSample { sequence: Some(sequence), ..taken }, filling, out);
        } else {
            self.hold(sequence, taken);
        }
    }

    /// Sends the kept samples, and those of the following seconds.
    pub fn fire(&mut self, time: u64, filling: &mut BatchBuilder, out: &mut Vec<NewBatch>) {
        self.forget(time);
        let mut row = std::mem::take(&mut self.row);
        while let Some(held) = self.pop(&mut row) {
            let BufferedSample { sequence, time, state, not_taken, .. } = held;
            self.send(
                NewSample {
                    sequence: Some(sequence),
                    time,
                    state,
                    kept_back: 0,
                    not_taken,
                    row: &row,
                    limit: None,
                },
                filling,
                out,
            );
        }
        self.row = row;
        self.open_until = time.saturating_add(self.after_ns);
    }

    fn send(&mut self, taken: NewSample<'_>, filling: &mut BatchBuilder, out: &mut Vec<NewBatch>) {
        let kept_back = std::mem::take(&mut self.kept_back);
        let not_taken = taken.not_taken + std::mem::take(&mut self.not_taken);
        filling.take(NewSample { kept_back, not_taken, ..taken }, out);
    }

    fn hold(&mut self, sequence: u64, taken: NewSample<'_>) {
        let Ok(row_bytes) = u32::try_from(taken.row.len()) else {
            self.kept_back += 1;
            self.not_taken += taken.not_taken;
            return;
        };
        let NewSample { time, state, not_taken, .. } = taken;
        self.held.push_back(BufferedSample { sequence, time, state, row_bytes, not_taken });
        self.rows.extend(taken.row);
        self.forget(taken.time);
    }

    /// Evicts samples that are too old or exceed the memory.
    fn forget(&mut self, now: u64) {
        let oldest = now.saturating_sub(self.before_ns);
        while self.held.front().is_some_and(|held| held.time < oldest) || self.bytes() > self.limit_bytes {
            let Some(held) = self.held.pop_front() else { return };
            self.rows.drain(..held.row_bytes as usize);
            self.kept_back += 1;
            self.not_taken += held.not_taken;
        }
    }

    fn bytes(&self) -> usize {
        self.rows.len() + self.held.len() * size_of::<BufferedSample>()
    }

    fn pop(&mut self, row: &mut Vec<u8>) -> Option<BufferedSample> {
        let held = self.held.pop_front()?;
        row.clear();
        row.extend(self.rows.drain(..held.row_bytes as usize));
        Some(held)
    }
}

/// All limits of an instance, in the order of its metrics.
#[derive(Debug)]
struct Watches {
    /// Types of the metrics, up to the last one with a limit.
    kinds: Vec<MetricType>,
    watches: Vec<Watch>,
}

#[derive(Debug)]
struct Watch {
    metric: usize,
    side: Side,
    limit: f64,
    is_beyond: bool,
}

impl Watches {
    fn new(probe_type: &ProbeType, triggers: &[Trigger]) -> Result<Self, TriggerError> {
        let mut watches = Vec::new();
        for Trigger { metric: name, side, limit } in triggers {
            let metric = probe_type.metrics.iter().position(|metric| metric.name == *name);
            let metric = metric.ok_or_else(|| TriggerError::UnknownMetric(name.clone()))?;
            let kind = &probe_type.metrics[metric].kind;
            if matches!(kind, MetricType::Boolean) || kind.fixed_width().is_none() {
                return Err(TriggerError::NoNumber(name.clone()));
            }
            watches.push(Watch { metric, side: *side, limit: *limit, is_beyond: false });
        }
        watches.sort_by_key(|watch| watch.metric);
        let kinds = watches.last().map_or(0, |last| last.metric + 1);
        Ok(Self {
            kinds: probe_type.metrics[..kinds].iter().map(|metric| metric.kind.clone()).collect(),
            watches,
        })
    }

    /// Returns whether a metric crosses its limit in this row. A row that does not fit the schema crosses none.
    fn is_crossed_by(&mut self, row: &[u8]) -> bool {
        self.check_limits(row).unwrap_or(false)
    }

    fn check_limits(&mut self, row: &[u8]) -> Result<bool, Malformed> {
        let mut reader = Reader::new(row, 0);
        let mut watches = self.watches.iter_mut().peekable();
        let mut is_crossed = false;
        for (index, kind) in self.kinds.iter().enumerate() {
            if watches.peek().is_none_or(|watch| watch.metric != index) {
                value::skip(kind, &mut reader)?;
                continue;
            }
            let Some(number) = number(&value::read(kind, &mut reader)?) else { continue };
            while let Some(watch) = watches.next_if(|watch| watch.metric == index) {
                is_crossed |= watch.see(number);
            }
        }
        Ok(is_crossed)
    }
}

impl Watch {
    fn see(&mut self, number: f64) -> bool {
        let is_beyond = match self.side {
            Side::Above => number > self.limit,
            Side::Below => number < self.limit,
        };
        let was_beyond = std::mem::replace(&mut self.is_beyond, is_beyond);
        is_beyond && !was_beyond
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(number) => Some(*number as f64),
        Value::Uint(number) => Some(*number as f64),
        Value::Real32(number) => Some((*number).into()),
        Value::Real64(number) => Some(*number),
        Value::Boolean(_) | Value::String(_) | Value::Vector(_) | Value::Struct(_) | Value::Blob(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch_builder::Batching;
    use oasis_wire::{batch::Encoder, schema::Metric, value::RowWriter};
    use proptest::prelude::*;
    use std::time::Instant;

    const MS: u64 = 1_000_000;
    const LIMIT: f64 = 90.0;

    fn probe_type() -> ProbeType {
        let metrics = [("label", MetricType::String), ("temperature", MetricType::Real64)];
        ProbeType {
            name: "Oven".into(),
            uuid: uuid::Uuid::nil(),
            version: "1.0".into(),
            doc: None,
            rate: None,
            metrics: metrics.map(|(name, kind)| Metric::new(name, kind)).into(),
        }
    }

    fn recorder(before_ms: u64, after_ms: u64, bytes: usize) -> FlightRecorder {
        let triggers = vec!["temperature > 90".parse().unwrap()];
        let (before, after) = (Duration::from_millis(before_ms), Duration::from_millis(after_ms));
        FlightRecorder { before, after, bytes, triggers }
    }

    /// A recorder with the batches it sends.
    struct Rig {
        recorder: Recorder,
        filling: BatchBuilder,
        out: Vec<NewBatch>,
    }

    impl Rig {
        fn new(config: &FlightRecorder) -> Self {
            let batching = Batching { samples: 100, bytes: 10_000, linger: Duration::ZERO };
            let encoder = Encoder::new(&probe_type()).unwrap();
            let filling = BatchBuilder::new(0, "oven".into(), encoder, batching, Instant::now());
            Self { recorder: Recorder::new(&probe_type(), config).unwrap(), filling, out: Vec::new() }
        }

        fn take(&mut self, sequence: u64, ms: u64, temperature: f64) {
            let mut bytes = Vec::new();
            let mut row = RowWriter::new(&mut bytes);
            row.string("upper");
            row.f64(temperature);
            let taken = NewSample {
                sequence: Some(sequence),
                time: ms * MS,
                state: ProbeState::NORMAL,
                kept_back: 0,
                not_taken: 0,
                row: &bytes,
                limit: None,
            };
            self.recorder.take(taken, &mut self.filling, &mut self.out);
        }

        fn fire(&mut self, ms: u64) {
            self.recorder.fire(ms * MS, &mut self.filling, &mut self.out);
        }

        /// Returns the sequence numbers sent, and how many of those between were kept back and dropped by the ring.
        fn sent(&mut self) -> (Vec<u64>, u64, u64) {
            self.filling.flush(&mut self.out);
            let numbers =
                |batch: &NewBatch| batch.first_sequence..batch.first_sequence + u64::from(batch.count);
            let sum = |of: fn(&NewBatch) -> u64| self.out.iter().map(of).sum();
            let (kept_back, ring) =
                (sum(|batch| batch.before.kept_back), sum(|batch| batch.before.ring_full));
            (self.out.iter().flat_map(numbers).collect(), kept_back, ring)
        }
    }

    #[test]
    fn without_a_trigger_nothing_is_sent() {
        let mut rig = Rig::new(&recorder(1_000, 1_000, 1 << 20));
        (1..100).for_each(|number| rig.take(number, number * 10, 20.0));
        assert_eq!(rig.sent(), (vec![], 0, 0));
    }

    #[test]
    fn samples_around_a_crossing_are_sent_and_the_rest_is_counted() {
        let mut rig = Rig::new(&recorder(30, 20, 1 << 20));
        for number in 1..=20 {
            rig.take(number, number * 10, if (10..13).contains(&number) { 95.0 } else { 20.0 });
        }
        assert_eq!(rig.sent(), (vec![7, 8, 9, 10, 11], 6, 0));
    }

    #[test]
    fn a_memory_that_is_too_small_keeps_the_newest() {
        let row = 1 + "upper".len() + 8;
        let mut rig = Rig::new(&recorder(1_000, 0, 3 * (row + size_of::<BufferedSample>())));
        (1..=9).for_each(|number| rig.take(number, number, 20.0));
        rig.fire(9);
        assert_eq!(rig.sent(), (vec![7, 8, 9], 6, 0));
    }

    proptest! {
        #[test]
        fn a_sample_is_sent_if_a_trigger_is_near_enough(
            steps in proptest::collection::vec((0_u64..40, 0_u64..3, 85.0..95.0, any::<bool>()), 0..60),
            before in 0_u64..100,
            after in 0_u64..100,
        ) {
            let mut rig = Rig::new(&recorder(before, after, 1 << 20));
            // Sample by sample: number, time; and when triggers fired, after how many samples.
            let (mut samples, mut triggers) = (Vec::new(), Vec::new());
            let (mut number, mut ms, mut was) = (0, 1_000, 0.0);
            for (pause, lost, temperature, command) in steps {
                (number, ms) = (number + 1 + lost, ms + pause);
                if temperature > LIMIT && was <= LIMIT {
                    triggers.push((samples.len() + 1, ms));
                }
                was = temperature;
                samples.push((number, ms));
                rig.take(number, ms, temperature);
                if command {
                    triggers.push((samples.len(), ms));
                    rig.fire(ms);
                }
            }
            let is_near = |index: usize, ms: u64| triggers.iter().any(|&(behind, fired)| {
                if index < behind { ms + before >= fired } else { ms < fired + after }
            });
            let near = samples.iter().enumerate().filter(|&(index, &(_, ms))| is_near(index, ms));
            let expected: Vec<u64> = near.map(|(_, &(number, _))| number).collect();
            let (sent, kept_back, ring) = rig.sent();
            prop_assert_eq!(&sent, &expected);
            let last = sent.last().copied().unwrap_or(0);
            let taken = samples.iter().filter(|&&(number, _)| number <= last).count() as u64;
            prop_assert_eq!((kept_back, ring), (taken - sent.len() as u64, last - taken));
        }
    }

    #[test]
    fn a_trigger_reads_from_text() {
        let trigger = |text: &str| text.parse::<Trigger>();
        assert_eq!(
            trigger("temperature > 90"),
            Ok(Trigger { metric: "temperature".into(), side: Side::Above, limit: 90.0 })
        );
        assert_eq!(
            trigger("level<-0.5"),
            Ok(Trigger { metric: "level".into(), side: Side::Below, limit: -0.5 })
        );
        for wrong in
            ["", "temperature", "> 90", "temperature > hot", "temperature >= 90", "temperature > NaN"]
        {
            assert_eq!(trigger(wrong), Err(TriggerError::Syntax(wrong.into())));
        }
    }

    #[test]
    fn a_trigger_needs_a_number_to_watch() {
        let error = |metric: &str| {
            let triggers = vec![Trigger { metric: metric.into(), side: Side::Above, limit: 0.0 }];
            Recorder::new(&probe_type(), &FlightRecorder { triggers, ..FlightRecorder::default() })
                .unwrap_err()
        };
        assert_eq!(error("humidity"), TriggerError::UnknownMetric("humidity".into()));
        assert_eq!(error("label"), TriggerError::NoNumber("label".into()));
    }

    #[test]
    fn a_row_that_does_not_fit_fires_nothing() {
        let mut watches = Watches::new(&probe_type(), &["temperature > 90".parse().unwrap()]).unwrap();
        assert!(!watches.is_crossed_by(&[200, 1, 2]));
    }
}
