use super::{INPUT, frame::Frame};
use crate::{
    can::Database,
    input::{Dbc, InputError, InputFile, InputOptions, Report},
};
use oasis_wire::{
    batch::{Batch, Sample},
    schema::ProbeType,
    value::Value,
};
use proptest::prelude::*;
use std::{collections::BTreeMap, io::Cursor, path::Path, sync::Arc};

type Instances = BTreeMap<String, (Arc<ProbeType>, Vec<Sample>)>;

fn read(log: &str, dbc: &str, is_partial: bool) -> Result<(Instances, Report), InputError> {
    let mut all = Instances::new();
    let mut content = Cursor::new(log.as_bytes());
    let mut file = InputFile { path: Path::new("a.log"), content: &mut content };
    let dbc = Dbc { path: "a.dbc".into(), content: dbc.as_bytes().to_vec() };
    let options = InputOptions { is_partial, dbc: vec![dbc], ..InputOptions::default() };
    let report = (INPUT.read)(&mut file, &options, &mut |recorded, batch| {
        let of = all.entry(recorded.instance.to_string());
        let (_, samples) = of.or_insert_with(|| (recorded.probe_type.clone(), Vec::new()));
        samples.extend(Batch::parse(batch, &recorded.probe_type)?.samples());
        Ok(())
    })?;
    Ok((all, report))
}

const DBC: &str = r#"VERSION ""
NS_ :
	CM_
	BA_
	VAL_
BS_:
BU_: A
BO_ 291 Engine: 8 A
 SG_ Mode M : 0|8@1+ (1,0) [0|0] "" A
 SG_ Speed m1 : 8|16@1- (0.5,-10) [0|0] "km/h" A
 SG_ Gear m2 : 15|8@0+ (1,0) [0|0] "" A
BO_ 2147484000 Wide: 8 A
 SG_ Big : 0|64@1+ (1,0) [0|0] "" A
CM_ SG_ 291 Speed "of the; wheels";
VAL_ 291 Mode 1 "DRIVE" 2 "SHIFT" ;
"#;

#[test]
fn signals_have_their_values_and_multiplexed_ones_are_absent() {
    let log = "(1700000000.000001) can0 123#01FFFF0000000000\n(1700000000.000002) can0 123#0205000000000000\n(1700000001.5) can1 00000160#FFFFFFFFFFFFFFFF\n(1.5) can0 7FF##1AABB\n";
    let (all, report) = read(log, DBC, false).unwrap();
    let (engine, samples) = &all["can0/Engine"];
    let names: Vec<_> = engine.metrics.iter().map(|of| of.name.as_str()).collect();
    assert_eq!(names, ["Mode", "Speed", "Gear", "oasis.absent"]);
    assert_eq!(engine.metrics[0].enumeration.as_ref().unwrap().values[1].name, "SHIFT");
    assert_eq!(
        (engine.metrics[1].unit.as_deref(), engine.metrics[1].doc.as_deref()),
        (Some("km/h"), Some("of the; wheels"))
    );
    assert_eq!(samples[0].time, 1_700_000_000_000_001_000);
    assert_eq!(samples[0].values[..3], [Value::Int(1), Value::Real64(-10.5), Value::Int(0)]);
    assert_eq!(samples[0].values[3], Value::Vector(vec![Value::String("Gear".into())]));
    assert!(matches!(samples[1].values[1], Value::Real64(real) if real.is_nan()));
    assert_eq!(samples[1].values[2], Value::Int(5));
    assert_eq!(all["can1/Wide"].1[0].values, [Value::Uint(u64::MAX)]);
    let bytes = Value::Vector(vec![Value::Uint(0xaa), Value::Uint(0xbb)]);
    assert_eq!(all["can0/frames"].1[0].values.last(), Some(&bytes));
    assert!(report.is_complete() && report.findings.iter().any(|of| of.text.contains("7FF")));
}

#[test]
fn two_messages_of_one_name_become_two_instances() {
    let dbc = "BO_ 256 Msg: 8 A\n SG_ X : 0|8@1+ (1,0) [0|0] \"km/h\" A\nBO_ 258 Msg: 8 A\n SG_ X : 0|8@1- (1,0) [0|0] \"m/s\" A\n";
    let (all, report) = read("(1.0) can0 102#FF\n(2.0) can0 100#FF\n", dbc, false).unwrap();
    assert_eq!(all["can0/Msg"].1[0].values, [Value::Int(255)]);
    assert_eq!(all["can0/Msg_2"].1[0].values, [Value::Int(-1)]);
    let text = "can0/Msg_2: is the message 102: another one is called Msg too";
    assert!(report.findings.iter().any(|of| of.to_string() == text), "{report:?}");
}

#[test]
fn lines_have_the_forms_of_candump() {
    let parse = |line: &str| {
        Frame::parse(line.as_bytes()).map(|frame| (frame.id, frame.data().to_vec(), frame.is_remote))
    };
    assert_eq!(parse("(1.0) can0 123#R"), Ok((0x123, vec![], true)));
    let length = |line: &str| Frame::parse(line.as_bytes()).map(|frame| frame.length());
    assert_eq!(length("(1.0) can0 123#R8"), Ok(8));
    assert_eq!(length("(1.0)  can0  123   [4]  remote request"), Ok(4));
    assert_eq!(length("(1.0) can0 123#1122 T"), Ok(2));
    assert_eq!(parse("(1.0) can0 123#1122 R"), Ok((0x123, vec![0x11, 0x22], false)));
    assert_eq!(parse("(1436509052.249713)  vcan0  044   [2]  2A 36"), Ok((0x44, vec![0x2a, 0x36], false)));
    assert_eq!(parse(" (2015-07-10 08:17:32.249713)  can0  00000044   [0]"), Ok((0x44, vec![], false)));
    let error = Frame::parse(b"(1.0) can0 20000004#0001000000000000").unwrap();
    assert_eq!((error.id, error.is_error), (4, true));
    for line in [
        "",
        "can0 123#",
        "(1.0) can0 123",
        "(1.0) can0 12#11",
        "(1.0) can0 123#1",
        "(x) can0 123#11",
        "(1.0) can0 123#+1",
        "(1.0) can0 123#11 22",
        "(1.0) can0 123#RA",
    ] {
        assert!(parse(line).is_err(), "{line}");
    }
    let long = format!("(1.0) can0 123##0{}", "00".repeat(65));
    assert!(parse(&long).is_err());
}

#[test]
fn defects_name_line_and_remedy() {
    let error = read("(1.0) can0 123#11\nnothing\n", DBC, false).unwrap_err().to_string();
    assert!(error.starts_with("line 2: not of the form"), "{error}");
    let error =
        read("(1.0) can0 123#11\n", "BO_ 1 A: 8 X\n SG_ S : 0|65@1+ (1,0) [0|0] \"\" X", false).unwrap_err();
    assert!(error.to_string().starts_with("a.dbc: line 2: the signal \"S\" has 65 bits"), "{error}");
}

proptest! {
    #[test]
    fn any_database_and_any_line_are_read_or_refused(
        words in prop::collection::vec(prop_oneof![
            Just("BO_".to_owned()), Just("SG_".to_owned()), Just("VAL_".to_owned()), Just("SG_MUL_VAL_".to_owned()),
            Just("0|8@1+ (1,0) [0|0] \"\"".to_owned()), Just(":".to_owned()), Just("\"".to_owned()), "[0-9A-Za-z_:;,|@-]{0,6}",
        ], 0..40),
        line in "(\\(1\\.5\\) can0 )?[0-9A-FR#\\[\\] ]{0,40}",
    ) {
        let _ = Database::parse(words.join(" ").as_bytes());
        let _ = Frame::parse(line.as_bytes());
        let _ = read(&line, DBC, true);
    }
}
