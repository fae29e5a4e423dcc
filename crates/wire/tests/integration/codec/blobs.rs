//! Files as samples: their bounds, where they are allowed, and their JSON.

use super::cases::metric;
use oasis_wire::{
    batch::{Batch, Encoder, Fields, RowError},
    reader::Malformed,
    schema::{Blob, InvalidType, MAX_BLOB_BYTES, MediaType, MetricType, ProbeType, StructType},
    value::{self, RowWriter, Value},
};
use serde_json::json;

fn jpeg(max_bytes: u32) -> MetricType {
    MetricType::Blob(Blob { media_type: MediaType::Jpeg, max_bytes })
}

fn camera(kind: MetricType) -> ProbeType {
    let (name, uuid, version) = ("Camera".into(), uuid::Uuid::from_u128(7), "1.0".into());
    ProbeType { name, uuid, version, doc: None, rate: None, metrics: vec![metric("image", kind)] }
}

fn row_of(bytes: &[u8]) -> Vec<u8> {
    let mut row = Vec::new();
    RowWriter::new(&mut row).blob(bytes);
    row
}

#[test]
fn a_schema_has_the_media_type_and_the_bound() {
    let kind = jpeg(65_536);
    let written = json!({"blob": {"media_type": "image/jpeg", "max_bytes": 65_536}});
    assert_eq!(serde_json::to_value(&kind).unwrap(), written);
    assert_eq!(serde_json::from_value::<MetricType>(written).unwrap(), kind);
    for media_type in MediaType::ALL {
        assert_eq!(serde_json::to_value(media_type).unwrap(), media_type.name());
        assert_eq!(MediaType::named(media_type.name()), Some(media_type));
    }
    let svg = json!({"blob": {"media_type": "image/svg+xml", "max_bytes": 9}});
    assert!(serde_json::from_value::<MetricType>(svg).is_err());
}

#[test]
fn only_a_whole_metric_is_a_blob_and_its_bound_has_one() {
    assert_eq!(camera(jpeg(1)).validate(), Ok(()));
    assert_eq!(camera(jpeg(MAX_BLOB_BYTES)).validate(), Ok(()));
    for bound in [0, MAX_BLOB_BYTES + 1, u32::MAX] {
        let wrong = InvalidType::BlobBound("image".into(), bound);
        assert_eq!(camera(jpeg(bound)).validate(), Err(wrong));
    }
    let members = vec![metric("inner", jpeg(9))];
    let in_struct = MetricType::Struct(StructType { name: "S".into(), members });
    for nested in [MetricType::Vector(Box::new(jpeg(9))), in_struct] {
        assert_eq!(camera(nested).validate(), Err(InvalidType::NestedBlob("image".into())));
    }
}

#[test]
fn a_blob_beyond_its_bound_is_refused_by_encoder_and_decoder() {
    let mut encoder = Encoder::new(&camera(jpeg(4))).unwrap();
    encoder.push(1, &row_of(&[1, 2, 3, 4])).unwrap();
    let too_large = Malformed::BlobTooLarge { at: 0, bytes: 5, max_bytes: 4 };
    assert_eq!(encoder.push(2, &row_of(&[0; 5])), Err(RowError::Malformed(too_large)));
    encoder.push(3, &row_of(&[])).unwrap();
    let mut bytes = Vec::new();
    encoder.finish(Fields { first_sequence: 1, ..Fields::default() }, &mut bytes);
    let batch = Batch::parse(&bytes, &camera(jpeg(4))).unwrap();
    let images: Vec<_> = batch.samples().map(|sample| sample.values).collect();
    assert_eq!(images, [[Value::Blob(vec![1, 2, 3, 4])], [Value::Blob(vec![])]]);
    assert!(Batch::parse(&bytes, &camera(jpeg(3))).is_err(), "the type of the reader has a smaller bound");
}

#[test]
fn a_length_alone_allocates_nothing() {
    let kind = jpeg(MAX_BLOB_BYTES);
    for length in [MAX_BLOB_BYTES.into(), u64::from(MAX_BLOB_BYTES) + 1, u64::MAX] {
        let mut row = Vec::new();
        oasis_wire::varint::put(length, &mut row);
        row.extend_from_slice(&[0; 20]);
        let mut reader = oasis_wire::reader::Reader::new(&row, 0);
        assert!(value::read(&kind, &mut reader).is_err(), "{length}");
    }
}

#[test]
fn json_has_the_size_and_not_the_bytes() {
    let sample = value::to_json(&camera(jpeg(9)), &[Value::Blob(vec![0xff; 7])]);
    assert_eq!(sample["image"], json!({"media_type": "image/jpeg", "bytes": 7}));
}
