use super::{
    INPUT,
    point::{Field, parse},
    points::Points,
};
use crate::input::{InputError, InputFile, InputOptions, Report};
use oasis_wire::{
    batch::{Batch, Sample},
    value::Value,
};
use proptest::prelude::*;
use serde_json::Value as Json;
use std::{collections::BTreeMap, io::Cursor, path::Path};

type Instances = BTreeMap<String, (Vec<String>, Vec<Sample>)>;

fn read(text: &[u8], options: &InputOptions) -> Result<(Instances, Report), InputError> {
    let mut all = Instances::new();
    let mut content = Cursor::new(text);
    let mut file = InputFile { path: Path::new("a.lp"), content: &mut content };
    let report = (INPUT.read)(&mut file, options, &mut |recorded, batch| {
        let names = || recorded.probe_type.metrics.iter().map(|metric| metric.name.clone()).collect();
        let (_, samples) = all.entry(recorded.instance.to_string()).or_insert_with(|| (names(), Vec::new()));
        samples.extend(Batch::parse(batch, &recorded.probe_type)?.samples());
        Ok(())
    })?;
    Ok((all, report))
}

#[test]
fn each_series_is_an_instance() {
    let text = "# a comment\ncpu,host=a\\ b,core=0 usage=1.5,n=9007199254740993i 1700000000000000001\ncpu,core=0,host=a\\ b usage=-2e3 1700000000000000002\nmem free=18446744073709551615u,ok=t,why=\"two\nlines \\\"q\\\"\" 1700000000000000000\n";
    let (all, report) = read(text.as_bytes(), &InputOptions::default()).unwrap();
    assert_eq!(all.keys().collect::<Vec<_>>(), ["cpu,core=0,host=a\\ b", "mem"]);
    let (names, samples) = &all["cpu,core=0,host=a\\ b"];
    assert_eq!(names[..], ["usage", "n", "oasis.absent"]);
    assert_eq!(samples[0].values[1], Value::Int(9_007_199_254_740_993));
    assert_eq!(samples[1].values[..2], [Value::Real64(-2e3), Value::Int(0)]);
    let expected = [Value::Uint(u64::MAX), Value::Boolean(true), Value::String("two\nlines \"q\"".into())];
    assert_eq!(all["mem"].1[0].values, expected);
    assert!(report.is_complete(), "{report:?}");
}

#[test]
fn units_of_times_are_found_or_named() {
    let time = |text: &str, options: &InputOptions| {
        read(text.as_bytes(), options).map(|(all, _)| all["a"].1[0].time).map_err(|error| error.to_string())
    };
    let default = InputOptions::default();
    assert_eq!(time("a f=1 1700000000", &default), Ok(1_700_000_000_000_000_000));
    assert_eq!(time("a f=1 1700000000000", &default), Ok(1_700_000_000_000_000_000));
    assert_eq!(time("a f=1 7", &default), Ok(7));
    let start = InputOptions { start: Some(5), ..InputOptions::default() };
    assert_eq!(time("a f=1", &start), Ok(5));
    let error = time("a f=1", &default).unwrap_err();
    assert!(error.starts_with("line 1: the point has no time: --start TIME"), "{error}");
    let error = time("a f=1 -7", &default).unwrap_err();
    assert!(error.contains("before 1970"), "{error}");
}

#[test]
fn the_order_of_fields_makes_no_other_type() {
    let text =
        b"cpu,host=a user=1i,idle=2i 1700000000000000000\ncpu,host=b idle=3i,user=4i 1700000000000000000\n";
    let (all, _) = read(text, &InputOptions::default()).unwrap();
    assert_eq!(all["cpu,host=a"].0, ["user", "idle"]);
    assert_eq!(all["cpu,host=b"].0, ["user", "idle"]);
    assert_eq!(all["cpu,host=b"].1[0].values, [Value::Int(4), Value::Int(3)]);
}

#[test]
fn points_of_another_type_are_defects() {
    let text = b"a f=1 1\na f=\"x\" 2\na f= 3\n";
    let error = read(text, &InputOptions::default()).unwrap_err().to_string();
    assert!(error.starts_with("line 2: the field \"f\" has another type"), "{error}");
    let partial = InputOptions { is_partial: true, ..InputOptions::default() };
    let (all, report) = read(text, &partial).unwrap();
    assert_eq!(all["a"].1.len(), 2);
    assert!(!report.is_complete());
}

/// Reads all points of a text as JSON in the form of the corpus, or the first error.
fn points(text: &[u8], default: i64, unit: i64) -> Result<Vec<Json>, String> {
    let mut points = Points::new(text);
    let mut all = Vec::new();
    while let Some((_, line)) = points.next_point().map_err(|error| error.to_string())? {
        let point = parse(line).map_err(|error| error.to_string())?;
        let time = match point.time {
            Some(time) => time.checked_mul(unit).ok_or("the time is out of range")?,
            None => default / unit * unit,
        };
        let mut tags: Vec<_> =
            point.tags.iter().map(|(key, value)| serde_json::json!([key, value])).collect();
        tags.sort_by_key(ToString::to_string);
        let fields: Vec<_> = point
            .fields
            .iter()
            .map(|(key, field)| match field {
                Field::Float(real) => serde_json::json!([key, "float", real]),
                Field::Int(int) => serde_json::json!([key, "int", int]),
                Field::Uint(uint) => serde_json::json!([key, "uint", uint]),
                Field::Boolean(boolean) => serde_json::json!([key, "bool", boolean]),
                Field::Text(text) => serde_json::json!([key, "string", text]),
            })
            .collect();
        all.push(serde_json::json!([point.measurement, tags, fields, time]));
    }
    Ok(all)
}

/// The corpus of InfluxDB's own library.
#[test]
fn all_cases_of_the_corpus_have_their_points_or_are_refused() {
    let cases = include_str!("../../tests/corpus/line-protocol/corpus.jsonl");
    let (mut accepted, mut refused) = (0, 0);
    let mut wrong = Vec::new();
    for case in cases.lines() {
        let case: Json = serde_json::from_str(case).unwrap();
        let text: Vec<u8> = match &case["text"] {
            Json::String(text) => text.clone().into_bytes(),
            bytes => serde_json::from_value(bytes.clone()).unwrap(),
        };
        let unit = case["unit"].as_i64().unwrap();
        let found = points(&text, case["default"].as_i64().unwrap(), unit);
        match (&case["points"], found) {
            (Json::Null, Err(_)) => refused += 1,
            (expected, Ok(found)) if *expected == Json::Array(found.clone()) => accepted += 1,
            // Bytes that are not UTF-8 are replaced in texts, and comments are skipped whatever they contain.
            (Json::Null, Ok(found)) if found.is_empty() || found[0].to_string().contains('\u{fffd}') => {}
            (expected, found) => {
                wrong.push(format!("{:?}\n  {expected}\n  {found:?}", String::from_utf8_lossy(&text)))
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong of {}:\n{}",
        wrong.len(),
        accepted + refused,
        wrong[..wrong.len().min(25)].join("\n")
    );
    assert!(accepted > 300 && refused > 300, "{accepted} {refused}");
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "([a-c,= \\\\\"\n#0-9.ieutf-]|\u{e9}){0,60}") {
        let _ = parse(text.as_bytes());
        let partial = InputOptions { is_partial: true, ..InputOptions::default() };
        let _ = read(text.as_bytes(), &partial);
    }
}

#[test]
fn statements_of_an_export_are_skipped() {
    let text = "# DDL\nCREATE DATABASE telegraf WITH NAME autogen\nCREATE RETENTION POLICY \"a\" ON b\n# DML\ncpu usage=1.5 1700000000000000000\n";
    let (all, report) = read(text.as_bytes(), &InputOptions::default()).unwrap();
    assert_eq!((all.len(), report.is_complete()), (1, true), "{report:?}");
}
