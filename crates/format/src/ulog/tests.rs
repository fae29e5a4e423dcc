use super::INPUT;
use crate::input::{InputError, InputFile, InputOptions, Report};
use oasis_wire::{
    batch::{Batch, Sample},
    value::Value,
};
use proptest::prelude::*;
use std::{collections::BTreeMap, io::Cursor, path::Path};

type Instances = BTreeMap<String, Vec<Sample>>;

fn read(bytes: &[u8], is_partial: bool) -> Result<(Instances, Report), InputError> {
    let mut all = Instances::new();
    let mut content = Cursor::new(bytes);
    let mut file = InputFile { path: Path::new("a.ulg"), content: &mut content };
    let options = InputOptions { is_partial, ..InputOptions::default() };
    let report = (INPUT.read)(&mut file, &options, &mut |recorded, batch| {
        let samples = all.entry(recorded.instance.to_string()).or_default();
        samples.extend(Batch::parse(batch, &recorded.probe_type)?.samples());
        Ok(())
    })?;
    Ok((all, report))
}

fn message(kind: u8, content: &[u8]) -> Vec<u8> {
    [&(content.len() as u16).to_le_bytes(), &[kind][..], content].concat()
}

fn data(id: u16, micros: u64, rest: &[u8]) -> Vec<u8> {
    message(b'D', &[&id.to_le_bytes()[..], &micros.to_le_bytes(), rest].concat())
}

fn log(messages: &[Vec<u8>]) -> Vec<u8> {
    let header = [&b"ULog\x01\x12\x35\x01"[..], &7_u64.to_le_bytes()].concat();
    [header, messages.concat()].concat()
}

fn topic() -> Vec<u8> {
    let format = b"imu:uint64_t timestamp;float[2] xy;bool on;char[4] text;inner[2] of;uint8_t[3] _padding0;";
    let format = message(b'F', format);
    [format, message(b'F', b"inner:int16_t a;uint8_t b;"), message(b'A', b"\x00\x05\x00imu")].concat()
}

const FIELD_BYTES: [u8; 19] =
    [0, 0, 0x80, 0x3f, 0, 0, 0, 0x40, 2, b'a', 0xff, 0, b'z', 0xfe, 0xff, 1, 3, 0, 2];

#[test]
fn a_topic_has_samples_of_its_format() {
    let bytes =
        log(&[topic(), data(5, 10, &FIELD_BYTES), data(5, 20, &[&FIELD_BYTES[..], &[0; 3]].concat())]);
    let (all, report) = read(&bytes, false).unwrap();
    let inner = |a: i64, b: u64| Value::Struct(vec![Value::Int(a), Value::Uint(b)]);
    let expected = [
        Value::Uint(10),
        Value::Vector(vec![Value::Real32(1.0), Value::Real32(2.0)]),
        Value::Boolean(true),
        Value::String("a\u{fffd}".into()),
        Value::Vector(vec![inner(-2, 1), inner(3, 2)]),
    ];
    assert_eq!(all["imu"][0].values, expected);
    assert_eq!(all["imu"].iter().map(|of| of.time).collect::<Vec<_>>(), [10_000, 20_000]);
    assert!(report.findings.iter().any(|of| of.is_loss && of.text.starts_with("2 texts are not UTF-8")));
}

#[test]
fn parameters_of_a_start_that_no_sample_can_have_are_counted() {
    let mut bytes =
        log(&[message(b'P', b"\x09int32_t A\xff\xff\xff\xff"), topic(), data(5, 10, &FIELD_BYTES)]);
    bytes[8..16].copy_from_slice(&u64::MAX.to_le_bytes());
    let (all, report) = read(&bytes, false).unwrap();
    assert_eq!(all.keys().collect::<Vec<_>>(), ["imu"]);
    assert!(report.findings.iter().any(|of| of.is_loss && of.text.starts_with("1 parameters, information")));
}

#[test]
fn log_records_parameters_and_information_are_instances() {
    let bytes = log(&[
        message(b'I', b"\x10char[3] sys_namePX4"),
        message(b'P', b"\x09int32_t A\xff\xff\xff\xff"),
        message(b'L', &[&b"4"[..], &20_u64.to_le_bytes(), b"low battery"].concat()),
    ]);
    let (all, _) = read(&bytes, false).unwrap();
    assert_eq!(all["information"][0].values[..2], ["sys_name", "PX4"].map(|text| Value::String(text.into())));
    assert_eq!(
        all["parameters"][0].values,
        [Value::String("A".into()), Value::Real64(-1.0), Value::Boolean(true)]
    );
    assert_eq!(all["log"][0].values[..1], [Value::Uint(13)]);
    assert_eq!(
        (all["log"][0].time, &all["log"][0].values[2]),
        (20_000, &Value::String("low battery".into()))
    );
}

#[test]
fn a_dropout_is_a_gap_with_a_cause() {
    let mut messages = vec![topic()];
    messages.extend((0..5).map(|n| data(5, 1_000 * n, &FIELD_BYTES)));
    messages.push(message(b'O', &3_u16.to_le_bytes()));
    messages.push(data(5, 8_000, &FIELD_BYTES));
    let (all, report) = read(&log(&messages), false).unwrap();
    assert_eq!(all["imu"].last().unwrap().sequence, 9);
    let lost: Vec<_> = report.lost.iter().map(|lost| (lost.numbers.clone(), lost.cause.word())).collect();
    assert_eq!(lost, [(6..=8, "ring_full")]);
    assert!(report.findings.iter().filter(|of| of.text.contains("dropouts")).all(|of| !of.is_loss));
    assert_eq!(all["dropouts"].len(), 1);
}

#[test]
fn damage_is_refused_or_skipped_to_the_next_synchronization() {
    let sync = message(b'S', &[0x2f, 0x73, 0x13, 0x20, 0x25, 0x0c, 0xbb, 0x12]);
    let bytes = log(&[
        topic(),
        data(5, 10, &FIELD_BYTES),
        vec![0; 50],
        sync,
        data(5, 20, &FIELD_BYTES),
        vec![9, 0, b'D', 5],
    ]);
    let error = read(&bytes, false).unwrap_err().to_string();
    assert!(error.starts_with("byte ") && error.ends_with("import the rest with --partial"), "{error}");
    let (all, report) = read(&bytes, true).unwrap();
    assert_eq!(all["imu"].len(), 2);
    assert!(
        report.is_damaged && report.findings.iter().any(|of| of.text.contains("later messages are lost"))
    );
}

#[test]
fn hostile_formats_are_refused() {
    let bad = |format: &str| {
        let mut formats = super::format::Formats::default();
        for format in format.split('|') {
            formats.add(format.as_bytes());
        }
        formats.layout("a").unwrap_err().to_string()
    };
    assert!(bad("a:uint64_t timestamp;a of;").contains("nested deeper"));
    assert!(bad("a:uint64_t timestamp;uint8_t[70000] x;").contains("no field"));
    assert!(bad("a:uint64_t timestamp;double[60000] x;").contains("more than"));
    assert!(bad("a:float x;").contains("timestamp"));
    let bomb: String = (0..12).map(|n| format!("|l{n}:{}", format!("l{} x;", n + 1).repeat(9))).collect();
    assert!(!bad(&format!("a:uint64_t timestamp;l0 x;{bomb}|l12:int8_t x;")).is_empty());
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(
        pieces in prop::collection::vec(
            prop_oneof![
                (any::<u8>(), prop::collection::vec(any::<u8>(), 0..40)).prop_map(|(kind, content)| message(kind, &content)),
                Just(topic()),
                any::<u64>().prop_map(|micros| data(5, micros, &FIELD_BYTES)),
                prop::collection::vec(any::<u8>(), 0..60).prop_map(|flags| message(b'B', &flags)),
                Just(message(b'O', &[1, 0])),
            ],
            0..20,
        ),
        cut in 0..400_usize,
    ) {
        let mut bytes = log(&pieces);
        bytes.truncate(bytes.len().saturating_sub(cut % 40));
        let _ = read(&bytes, false);
        let _ = read(&bytes, true);
    }
}
