//! Properties of any schema, any values, any bytes.

use super::{
    cases::{NODE_TIME, metric},
    exact::exact,
    row::row,
};
use oasis_wire::{
    batch::{Batch, Choice, Encoder, Fields},
    cdr::ByteOrder,
    eisa::{ClientCommand, Packet},
    schema::{Blob, MediaType, MetricType, ProbeType, StructType},
    value::Value,
};
use proptest::{collection::vec, prelude::*};
use serde_json::Value as Json;

fn scalar() -> impl Strategy<Value = MetricType> {
    use MetricType::{
        Boolean, Int8, Int16, Int32, Int64, Real32, Real64, String, Uint8, Uint16, Uint32, Uint64,
    };
    prop::sample::select(vec![
        Int8, Int16, Int32, Int64, Uint8, Uint16, Uint32, Uint64, Real32, Real64, Boolean, String,
    ])
}

fn any_type() -> impl Strategy<Value = MetricType> {
    scalar().prop_recursive(3, 12, 4, |inner| {
        let structure = vec(inner.clone(), 1..4).prop_map(|kinds| {
            let members =
                kinds.into_iter().enumerate().map(|(index, kind)| metric(&format!("m{index}"), kind));
            MetricType::Struct(StructType { name: "S".into(), members: members.collect() })
        });
        prop_oneof![inner.prop_map(|kind| MetricType::Vector(Box::new(kind))), structure]
    })
}

/// Files are whole metrics.
fn metric_type() -> impl Strategy<Value = MetricType> {
    let blob = (prop::sample::select(MediaType::ALL.to_vec()), 1..300_u32)
        .prop_map(|(media_type, max_bytes)| MetricType::Blob(Blob { media_type, max_bytes }));
    prop_oneof![4 => any_type(), 1 => blob]
}

/// Values that repeat, change a little, or jump: for all encodings.
fn integer() -> impl Strategy<Value = i64> {
    prop_oneof![4 => Just(7_i64), 4 => -40..40_i64, 1 => any::<i64>()]
}

fn value(kind: &MetricType) -> BoxedStrategy<Value> {
    let signed =
        |width: u32| integer().prop_map(move |v| Value::Int(v << (64 - width) >> (64 - width))).boxed();
    let unsigned = |width: u32| {
        integer().prop_map(move |v| Value::Uint((v as u64) << (64 - width) >> (64 - width))).boxed()
    };
    match kind {
        MetricType::Int8 => signed(8),
        MetricType::Int16 => signed(16),
        MetricType::Int32 => signed(32),
        MetricType::Int64 => signed(64),
        MetricType::Uint8 => unsigned(8),
        MetricType::Uint16 => unsigned(16),
        MetricType::Uint32 => unsigned(32),
        MetricType::Uint64 => unsigned(64),
        // Any bits: NaNs with a payload must survive.
        MetricType::Real32 => {
            prop_oneof![Just(0.5_f32), any::<u32>().prop_map(f32::from_bits)].prop_map(Value::Real32).boxed()
        }
        MetricType::Real64 => {
            prop_oneof![Just(0.5_f64), any::<u64>().prop_map(f64::from_bits)].prop_map(Value::Real64).boxed()
        }
        MetricType::Boolean => any::<bool>().prop_map(Value::Boolean).boxed(),
        // CDR strings cannot hold NUL.
        MetricType::String => "[^\0]{0,12}".prop_map(Value::String).boxed(),
        MetricType::Blob(of) => vec(any::<u8>(), 0..=of.max_bytes as usize).prop_map(Value::Blob).boxed(),
        MetricType::Vector(element) => vec(value(element), 0..4).prop_map(Value::Vector).boxed(),
        MetricType::Struct(of) => of
            .members
            .iter()
            .map(|member| value(&member.kind))
            .collect::<Vec<_>>()
            .prop_map(Value::Struct)
            .boxed(),
    }
}

fn probe_type(kinds: Vec<MetricType>) -> ProbeType {
    ProbeType {
        name: "Any".into(),
        uuid: uuid::Uuid::from_u128(1),
        version: "1.0".into(),
        doc: None,
        rate: None,
        metrics: kinds
            .into_iter()
            .enumerate()
            .map(|(index, kind)| metric(&format!("m{index}"), kind))
            .collect(),
    }
}

/// A probe type and samples of it, times anywhere.
fn recording() -> impl Strategy<Value = (ProbeType, Vec<(u64, Vec<Value>)>)> {
    vec(metric_type(), 0..4).prop_flat_map(|kinds| {
        let row: Vec<_> = kinds.iter().map(value).collect();
        let time = prop_oneof![8 => (0..2_000_000_u64).prop_map(|late| NODE_TIME - late), 1 => any::<u64>()];
        (Just(probe_type(kinds)), vec((time, row), 1..40))
    })
}

fn encode(probe_type: &ProbeType, samples: &[(u64, Vec<Value>)], choice: Choice) -> Vec<u8> {
    let mut encoder = Encoder::new(probe_type).unwrap().with_choice(choice);
    samples.iter().for_each(|(time, values)| encoder.push(*time, &row(values, probe_type)).unwrap());
    let mut bytes = Vec::new();
    let fields = Fields { topic: 1, state: 0, first_sequence: 9, node_time: NODE_TIME, dropped_before: 0 };
    encoder.finish(fields, &mut bytes);
    bytes
}

/// Bits instead of numbers: NaN is not equal to itself.
fn comparable(values: &[Value]) -> Vec<Json> {
    values.iter().map(exact).collect()
}

fn read_all(probe_type: &ProbeType, bytes: &[u8]) {
    if let Ok(batch) = Batch::parse(bytes, probe_type) {
        batch.samples().for_each(drop);
    }
}

proptest! {
    #[test]
    fn a_batch_decodes_to_its_samples(
        (probe_type, samples) in recording(),
        choice in prop::sample::select(vec![Choice::Smallest, Choice::Plain]),
    ) {
        let bytes = encode(&probe_type, &samples, choice);
        let batch = Batch::parse(&bytes, &probe_type).unwrap();
        prop_assert_eq!(batch.samples().len(), samples.len());
        for (read, (time, values)) in batch.samples().zip(&samples) {
            prop_assert_eq!(read.time, *time);
            prop_assert_eq!(comparable(&read.values), comparable(values));
        }
    }

    #[test]
    fn a_batch_cut_short_is_refused((probe_type, samples) in recording(), at in any::<prop::sample::Index>()) {
        let bytes = encode(&probe_type, &samples, Choice::Smallest);
        prop_assert!(Batch::parse(&bytes[..at.index(bytes.len())], &probe_type).is_err());
    }

    #[test]
    fn a_corrupted_batch_never_panics(
        (probe_type, samples) in recording(),
        corrupted in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = encode(&probe_type, &samples, Choice::Smallest);
        for (at, byte) in corrupted {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        read_all(&probe_type, &bytes);
    }

    #[test]
    fn any_bytes_are_read_or_refused(kinds in vec(metric_type(), 0..4), mut bytes in vec(any::<u8>(), 0..300), count in 1..99_u8) {
        let probe_type = probe_type(kinds);
        let columns = probe_type.metrics.len() as u8 + 1;
        if let Some(header) = bytes.get_mut(..48) {
            // A valid header, so that the rest is read.
            (header[0], header[1], header[44], header[45], header[46], header[47]) = (1, 1, count, 0, columns, 0);
        }
        if let Some(directory) = bytes.get_mut(48..48 + usize::from(columns)) {
            directory.iter_mut().for_each(|code| *code %= 6);
        }
        read_all(&probe_type, &bytes);
    }

    #[test]
    fn any_packet_and_any_command_is_read_or_refused(mut bytes in vec(any::<u8>(), 0..300)) {
        for order in [ByteOrder::Little, ByteOrder::Big] {
            let _ = Packet::decode(&bytes, order);
        }
        if let Some(head) = bytes.get_mut(..6) {
            head.copy_from_slice(b"EISA\x01\x01");
        }
        let _ = Packet::decode(&bytes, ByteOrder::Little);
        bytes.resize(256, 0);
        bytes[0] %= 6;
        let _ = ClientCommand::decode(&bytes);
    }
}
