//! `vectors/shapes.json` is made of samples of generated types; what they write, they read.

mod cases;
#[path = "../../../../wire/tests/integration/codec/exact.rs"]
mod exact;
#[rustfmt::skip]
#[path = "../../shapes/shapes.rs"]
mod generated;

use cases::{Case, cases};
use exact::{exact, hex};
use oasis_probe::{Malformed, Reader, Sample};
use oasis_wire::{
    batch::{Encoder, Fields, stamp},
    cdr::{ByteOrder, Writer},
    eisa::{Packet, write_members},
    value::{self, Value},
};
use serde_json::json;
use std::{env, fs, path::Path};

/// The node's time: 2025-11-21, in nanoseconds. The sample was taken a millisecond before.
const NODE_TIME: u64 = 1_763_683_200_000_000_000;

fn values(case: &Case) -> Vec<Value> {
    let mut from = Reader::new(&case.row, 0);
    case.probe_type.metrics.iter().map(|metric| value::read(&metric.kind, &mut from).unwrap()).collect()
}

fn packet(case: &Case, order: ByteOrder) -> Vec<u8> {
    let (mut data, mut out) = (Vec::new(), Vec::new());
    write_members(&case.probe_type.metrics, &values(case), &mut Writer::new(&mut data, order));
    let packet = Packet {
        version: (1, 1),
        uuid: case.probe_type.uuid,
        seconds: 1_763_683_199,
        microseconds: 999_000,
        sequence: 41,
        state: 2,
        instance: "shapes",
        data: &data,
    };
    packet.encode(order, &mut out);
    out
}

fn batch(case: &Case) -> Vec<u8> {
    let mut encoder = Encoder::new(&case.probe_type).unwrap();
    encoder.push(NODE_TIME - 1_000_000, &case.row).unwrap();
    let fields = Fields { topic: 3, state: 2, first_sequence: 41, node_time: NODE_TIME, dropped_before: 5 };
    let mut bytes = Vec::new();
    encoder.finish(fields, &mut bytes);
    stamp(&mut bytes, 1_000, NODE_TIME + 250_000);
    bytes
}

/// To make the file anew: `OASIS_UPDATE_VECTORS=1 cargo test -p oasis-pdl-gen`.
#[test]
fn generated_types_make_the_vectors() {
    let cases = cases();
    let cases = cases.iter().map(|case| {
        json!({
            "name": case.name,
            "probe": case.probe_type.name,
            "values": values(case).iter().map(exact).collect::<Vec<_>>(),
            "row": hex(&case.row),
            "little": hex(&packet(case, ByteOrder::Little)),
            "big": hex(&packet(case, ByteOrder::Big)),
            "batch": hex(&batch(case)),
        })
    });
    let file = json!({"cases": cases.collect::<Vec<_>>()});
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/shapes.json");
    if env::var_os("OASIS_UPDATE_VECTORS").is_some() {
        fs::write(&path, serde_json::to_string_pretty(&file).unwrap() + "\n").unwrap();
    }
    let kept: serde_json::Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(kept, file);
}

#[test]
fn decoded_samples_are_encoded_to_the_same_bytes() {
    for case in cases() {
        assert_eq!(hex(&case.again), hex(&case.row), "{}", case.name);
    }
}

#[test]
fn a_row_cut_anywhere_is_refused() {
    let full = cases().into_iter().find(|case| case.name == "structs in vectors in vectors").unwrap();
    for length in 0..full.row.len() {
        let read = generated::shapes::Structs::read(&mut Reader::new(&full.row[..length], 0));
        assert!(read.is_err(), "{length} bytes");
    }
}

#[test]
fn a_number_that_its_enum_does_not_declare_is_refused() {
    let row = [1, 0, 0, 0];
    let read = generated::shapes::Enums::read(&mut Reader::new(&row, 0));
    assert_eq!(read, Err(Malformed::Range { at: 0 }));
}
