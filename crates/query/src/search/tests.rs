//! Searches of log records in a topic log.

use super::*;
use oasis_history::{LogBatch, LogRead};
use oasis_wire::{
    batch::{Encoder, Fields},
    probe_kind::ProbeKind,
    quantity::{Epoch, Offset, TopicId},
    value::RowWriter,
};
use uuid::Uuid;

/// Records: level, message, and the value of the field `user`.
type Records = &'static [(u8, &'static str, &'static str)];

const RECORDS: Records = &[
    (9, "pump started", "ada"),
    (13, "Pressure is HIGH", "bob"),
    (17, "pump stopped: overheated", "ada"),
    (9, "user ada came", ""),
    (21, "Überdruck im Kessel", "eve"),
];

fn log_type() -> Arc<ProbeType> {
    let json = r#"{"name": "Log", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d12", "version": "1.0", "metrics": [
        {"name": "level", "type": "uint8", "enum": {"name": "Level", "values": [
            {"name": "INFO", "value": 9}, {"name": "WARN", "value": 13}, {"name": "ERROR", "value": 17},
            {"name": "FATAL", "value": 21}]}},
        {"name": "message", "type": "string"},
        {"name": "line", "type": "uint32"},
        {"name": "fields", "type": {"vector": {"struct": {"name": "Field", "members": [
            {"name": "name", "type": "string"}, {"name": "value", "type": "string"}]}}}}]}"#;
    serde_json::from_str::<ProbeType>(json).unwrap().into()
}

/// A topic log of these records, one batch for two of them.
struct FakeLog(Arc<ProbeType>);

impl FakeLog {
    fn batch(&self, first: usize, records: Records) -> LogBatch {
        let mut encoder = Encoder::new(&self.0).unwrap();
        for (at, (level, message, user)) in (first as u64..).zip(records) {
            let mut row = Vec::new();
            let mut writer = RowWriter::new(&mut row);
            writer.u8(*level);
            writer.string(message);
            writer.u32(at as u32 * 10);
            writer.vector(1);
            writer.string("user");
            writer.string(user);
            encoder.push(1_000 + at, &row).unwrap();
        }
        let mut batch = Vec::new();
        encoder
            .finish(Fields { topic: 1, first_sequence: first as u64 + 1, ..Fields::default() }, &mut batch);
        let series = Series {
            node: "plant".into(),
            instance: "log".into(),
            kind: ProbeKind::Pushed,
            run: Uuid::from_u128(1),
            epoch: Epoch(1),
            probe_type: self.0.clone(),
        };
        let offsets = Offset(first as u64)..Offset((first + records.len()) as u64);
        LogBatch { series: series.into(), batch: batch.into(), offsets, gaps_before: None }
    }
}

impl Log for FakeLog {
    fn topic(&self) -> TopicId {
        TopicId(1)
    }

    fn probe_type(&self) -> &Arc<ProbeType> {
        &self.0
    }

    fn epoch(&self) -> Epoch {
        Epoch(1)
    }

    fn start(&self) -> Offset {
        Offset(0)
    }

    fn first(&self) -> Offset {
        Offset(0)
    }

    fn next(&self) -> Offset {
        Offset(RECORDS.len() as u64)
    }

    fn read(&self, _: Offset, _: usize) -> LogRead {
        let batches = RECORDS.chunks(2).enumerate().map(|(at, records)| self.batch(at * 2, records));
        LogRead { evicted: None, batches: batches.collect() }
    }
}

/// The places of the records that are found, newest first.
fn found(wanted: &SearchQuery) -> Vec<u64> {
    let log: Arc<dyn Log> = Arc::new(FakeLog(log_type()));
    let instance = Searched { node: "plant".into(), instance: "log".into(), log: Some(log) };
    let found = search(None, &[instance], wanted, MOST_BYTES, &AtomicBool::new(false)).unwrap();
    assert_eq!((found.unreadable, found.next), (0, None));
    found.records.iter().map(|record| record.sample.sequence - 1).collect()
}

fn any() -> SearchQuery {
    SearchQuery::of(0..u64::MAX, 100)
}

#[test]
fn all_words_must_be_in_a_text_in_any_case() {
    for (text, expected) in [
        ("", vec![4, 3, 2, 1, 0]),
        ("pump", vec![2, 0]),
        ("PUMP stop", vec![2]),
        ("high pressure", vec![1]),
        ("ada", vec![3, 2, 0]),
        ("überDRUCK", vec![4]),
        ("warn", vec![1]),
        ("error pump", vec![2]),
        (".", vec![]),
        ("p.mp", vec![]),
        ("line", vec![]),
    ] {
        assert_eq!(found(&any().with_words(text).unwrap()), expected, "{text:?}");
    }
}

#[test]
fn a_level_finds_records_of_it_and_above() {
    for (level, expected) in
        [("INFO", vec![4, 3, 2, 1, 0]), ("warn", vec![4, 2, 1]), ("FATAL", vec![4]), ("NOTICE", vec![])]
    {
        assert_eq!(found(&any().with_level(Some(level.into()))), expected, "{level}");
    }
}

#[test]
fn a_field_is_a_metric_or_an_entry_of_a_list() {
    for (field, expected) in [
        ("user=ada", vec![2, 0]),
        ("user=ad", vec![]),
        ("line=10", vec![1]),
        ("level=ERROR", vec![2]),
        ("level=17", vec![2]),
        ("message=pump started", vec![0]),
        ("absent=1", vec![]),
    ] {
        assert_eq!(found(&any().with_field(field).unwrap()), expected, "{field}");
    }
}

#[test]
fn a_search_is_bounded_and_says_what_is_wrong_with_it() {
    assert_eq!(any().with_field("user").unwrap_err(), SearchError::Field("user".into()));
    assert_eq!(any().with_field("=ada").unwrap_err(), SearchError::Field("=ada".into()));
    assert_eq!(any().with_words(&"a ".repeat(17)).unwrap_err(), SearchError::TooMany);
    assert!(matches!(any().with_words(&"a".repeat(257)).unwrap_err(), SearchError::TooLong(_)));
}
