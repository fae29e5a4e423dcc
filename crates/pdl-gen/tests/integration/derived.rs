//! Types derived from Rust structs are those that the Rust generator makes of the equivalent PDL: same schema, same identity, same rows.

#![allow(clippy::upper_case_acronyms, reason = "names of the PDL")]

use oasis_pdl_gen::{infer::infer, json_schema};
use oasis_probe::{Jpeg, Malformed, Png, Probe, ProbeEnum, ProbeStruct, Reader, RowWriter, Sample};
use oasis_wire::{declared, schema::ProbeType};
use std::{collections::HashMap, path::PathBuf};

mod code {
    // Not as a module: the formatter must not change generated code.
    include!("../plant/plant.rs");
}

use code::plant::{self as generated, line7::Line as GeneratedLine};

/// How a line runs.
#[derive(Debug, Clone, Copy, PartialEq, ProbeEnum)]
#[probe(type = "Plant::Mode")]
enum Mode {
    /// Nothing moves.
    IDLE = 0,
    RUNNING = 5,
    /// It needs somebody.
    #[probe(name = "NOT_WELL")]
    NotWell,
}

#[derive(Debug, Clone, Copy, PartialEq, ProbeEnum)]
#[probe(type = "Plant::Trend")]
#[repr(i16)]
enum Trend {
    DOWN = -300,
    UP = 300,
}

#[derive(Debug, Clone, Copy, PartialEq, ProbeEnum)]
#[probe(type = "Plant::Switch")]
enum Switch {
    ON,
    On,
}

#[derive(Debug, PartialEq, ProbeStruct)]
#[probe(type = "Plant::Drive")]
struct Drive {
    name: String,
    mode: Mode,
}

/// A line with its drives.
#[derive(Debug, PartialEq, Probe)]
#[probe(type = "Plant::Line7::Line", uuid = "0f3c7d52-9c7e-4a57-8a9f-62c1f1b8c7aa", version = 1.2)]
struct Line {
    /// What it does now.
    #[probe(kind = "state", label = "Mode", alarm(NotWell))]
    mode: Mode,
    #[probe(unit = "Cel", min = -40, max = 150.5, warn(< 5, > 80), alarm(> 1e2))]
    temperature: f32,
    #[probe(min = 0, max = 18446744073709551615)]
    counts: Vec<u64>,
    trends: [Trend; 2],
    drives: Vec<Drive>,
    r#type: Switch,
    #[probe(skip)]
    not_sent: Option<std::time::Instant>,
}

fn row(of: &impl Sample) -> Vec<u8> {
    let mut row = Vec::new();
    of.write(&mut RowWriter::new(&mut row));
    row
}

#[test]
fn a_derived_type_is_the_generated_one() {
    assert_eq!(Line::SCHEMA, GeneratedLine::SCHEMA);
    assert_eq!((Line::NAME, Line::UUID), (GeneratedLine::NAME, GeneratedLine::UUID));
    let drive = |name: &str, mode| Drive { name: name.into(), mode };
    let derived = Line {
        mode: Mode::NotWell,
        temperature: 21.5,
        counts: vec![1, u64::MAX],
        trends: [Trend::DOWN, Trend::UP],
        drives: vec![drive("left", Mode::RUNNING), drive("", Mode::IDLE)],
        r#type: Switch::On,
        not_sent: None,
    };
    let drive = |name: &str, mode| generated::Drive { name: name.into(), mode };
    let generated = GeneratedLine {
        mode: generated::Mode::NotWell,
        temperature: 21.5,
        counts: vec![1, u64::MAX],
        trends: vec![generated::Trend::Down, generated::Trend::Up],
        drives: vec![drive("left", generated::Mode::Running), drive("", generated::Mode::Idle)],
        r#type: generated::Switch::On,
    };
    let bytes = row(&derived);
    assert_eq!(bytes, row(&generated));
    assert_eq!(Line::read(&mut Reader::new(&bytes, 0)).unwrap(), derived);
}

#[test]
fn a_row_that_the_type_does_not_have_is_malformed() {
    // An undeclared number of an enum.
    assert!(matches!(Line::read(&mut Reader::new(&[1], 0)), Err(Malformed::Range { at: 0 })));
    // A vector of another length than the array.
    let other = GeneratedLine { trends: vec![generated::Trend::Up], ..GeneratedLine::default() };
    assert!(matches!(Line::read(&mut Reader::new(&row(&other), 0)), Err(Malformed::Range { .. })));
}

#[derive(Probe)]
struct Motor {
    rpm: i64,
    #[probe(unit = "Cel", name = "winding", doc = "Of the \"winding\".")]
    temperature: f64,
}

#[test]
fn a_type_without_a_uuid_has_the_identity_of_its_schema_in_every_language() {
    let schema: ProbeType = serde_json::from_str(Motor::SCHEMA).unwrap();
    assert_eq!(
        (schema.name.as_str(), schema.version.as_str(), schema.uuid.to_string().as_str()),
        ("Motor", "1.0", Motor::UUID)
    );
    let without = Motor::SCHEMA.replace(&format!("\"uuid\":\"{}\",", Motor::UUID), "");
    assert_eq!(declared::read(&without).unwrap(), schema);
    assert_eq!(row(&Motor { rpm: 1, temperature: 2.0 }).len(), 16);
}

#[test]
fn pdl_inferred_of_a_derived_type_compiles_to_it() {
    for schema in [Motor::SCHEMA, Line::SCHEMA] {
        let schema: ProbeType = serde_json::from_str(schema).unwrap();
        let files = HashMap::from([(PathBuf::from("a.pdl"), infer(&schema).unwrap())]);
        let model = oasis_pdl::compile(&["a.pdl".into()], &[], &files).model;
        assert_eq!(json_schema::schema(&model, &model.probes[0]).unwrap(), schema);
    }
}

/// Nothing to measure but that it happened.
#[derive(Probe)]
#[probe(type = "beat", rate(demand, 0.5, 100))]
struct Beat;

#[test]
fn a_struct_without_fields_has_samples_without_metrics() {
    let schema: ProbeType = serde_json::from_str(Beat::SCHEMA).unwrap();
    assert_eq!((schema.metrics.len(), schema.demand().unwrap().min().get()), (0, 0.5));
    assert!(row(&Beat).is_empty());
    assert!(Beat::read(&mut Reader::new(&[], 0)).is_ok());
}

/// A camera with a mask.
#[derive(Debug, PartialEq, Probe)]
#[probe(type = "Plant::Camera", uuid = "7b2b7f0e-0f6c-4b6f-9f0e-2a1d1c6f4a05", version = 1.0)]
struct Camera {
    image: Jpeg<4>,
    mask: Png,
}

#[test]
fn images_are_blobs_with_their_bound() {
    let schema: ProbeType = serde_json::from_str(Camera::SCHEMA).unwrap();
    schema.validate().unwrap();
    let pdl = infer(&schema).unwrap();
    assert!(pdl.contains("blob<image/jpeg, 4> image;") && pdl.contains("blob<image/png> mask;"), "{pdl}");
    let row = |image: Vec<u8>| {
        let mut row = Vec::new();
        Camera { image: Jpeg(image), mask: Png(vec![7; 200]) }.write(&mut RowWriter::new(&mut row));
        row
    };
    let fitting = Camera::read(&mut Reader::new(&row(vec![1, 2, 3, 4]), 0)).unwrap();
    assert_eq!(fitting, Camera { image: Jpeg(vec![1, 2, 3, 4]), mask: Png(vec![7; 200]) });
    let too_large = Malformed::BlobTooLarge { at: 0, bytes: 5, max_bytes: 4 };
    assert_eq!(Camera::read(&mut Reader::new(&row(vec![0; 5]), 0)), Err(too_large));
}
