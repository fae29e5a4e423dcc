//! Values that a message of another protocol lacks: no reader may take the placeholder of the sample for a value.

use crate::harness::{Oasis, eventually, get, oasis};
use serde_json::{Value, json};
use std::{fs, path::Path};

/// Samples of three types: the second has new fields, and the third can lack them.
const LINES: [&str; 5] = [
    "pump,unit=7 rpm=50i,is_on=true 1763683200000000000",
    "pump,unit=7 rpm=51i,is_on=true,starts=7i,note=\"a\" 1763683201000000000",
    "pump,unit=7 starts=8i 1763683202000000000",
    "pump,unit=7 rpm=53i 1763683203000000000",
    "pump,unit=7 is_on=true,note=\"b\" 1763683204000000000",
];

fn dac(folder: &Path) -> Oasis {
    let config = folder.join("oasis.toml");
    fs::write(&config, "[influxdb]\nenabled = true\n").unwrap();
    let archive = folder.join("archive");
    Oasis::dac(&["--config", config.to_str().unwrap(), "--archive", archive.to_str().unwrap()])
}

fn write(dac: &Oasis, line: &str) {
    let url = format!("{}/write", dac.http());
    eventually("the inlet takes a line", || ureq::post(&url).send(line).is_ok().then_some(()));
}

const PUMP: &str = "node=influxdb&instance=pump%2Cunit%3D7";

/// Waits for the wanted samples of the pump, and returns that many.
fn samples(dac: &Oasis, query: &str, is_wanted: impl Fn(&Value) -> bool, count: usize) -> Vec<Value> {
    eventually("the samples are there", || {
        let answer = get(dac, &format!("/api/v1/samples?{PUMP}&{query}"));
        let messages = answer["messages"].as_array()?.iter();
        let samples = messages.filter_map(|message| message["samples"].as_array()).flatten();
        let samples: Vec<_> = samples.filter(|sample| is_wanted(sample)).cloned().collect();
        (samples.len() == count).then_some(samples)
    })
}

fn run(arguments: &[&str]) -> String {
    let output = oasis().args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn metrics(sample: &Value, names: &[&str]) -> Vec<Value> {
    names.iter().map(|name| sample["metrics"].get(name).cloned().unwrap_or(json!("left out"))).collect()
}

#[test]
fn a_placeholder_is_no_value_to_any_reader() {
    let folder = tempfile::tempdir().unwrap();
    let dac = dac(folder.path());
    LINES.iter().for_each(|line| write(&dac, line));
    let names = ["rpm", "is_on", "starts", "note"];
    let wanted = [
        json!([51, true, 7, "a"]),
        json!([null, null, 8, null]),
        json!([53, null, null, null]),
        json!([null, true, null, "b"]),
    ];

    let taken =
        samples(&dac, "from=2025-11-21T00:00:00Z", |sample| sample["metrics"].get("note").is_some(), 4);
    let found: Vec<_> = taken.iter().map(|sample| Value::from(metrics(sample, &names))).collect();
    assert_eq!(found, wanted);

    // Numbers that are there count in a period of 100 s, which the next one ends.
    write(&dac, "pump,unit=7 rpm=99i 1763683300000000000");
    let is_first = |sample: &Value| sample["time"] == 1_763_683_204_000_000_000_u64;
    let envelope = samples(&dac, "from=earliest&delivery=envelope=0.01", is_first, 1);
    let of_period =
        metrics(&envelope[0], &["rpm.min", "rpm.max", "rpm", "starts.min", "starts.max", "starts"]);
    assert_eq!(of_period, [json!(53), json!(53), json!(null), json!(8), json!(8), json!(null)]);

    let points = get(
        &dac,
        &format!("/api/v1/samples?{PUMP}&from=2025-11-21T00:00:00Z&to=2025-11-21T00:01:00Z&points=1"),
    );
    let points = &points["messages"][0]["metrics"];
    assert_eq!(points["starts"], json!({"min": [7], "max": [8], "mean": [7.5], "last": [8]}), "{points}");
    assert_eq!((&points["rpm"]["min"], &points["rpm"]["last"]), (&json!([50]), &json!([53])), "{points}");
    assert_eq!(points["is_on"]["min"], json!([1]), "{points}");

    let (url, from) = (dac.http(), "2025-11-21T00:00:00Z");
    let loss = run(&["loss", "--url", url]);
    assert!(loss.contains("pump,unit=7"), "{loss}");
    let text =
        run(&["tail", "--url", url, "influxdb/pump,unit=7", "--from", from, "--to", "2025-11-21T00:01:00Z"]);
    assert!(text.lines().nth(2).unwrap().contains("rpm=null is_on=null starts=8 note=null"), "{text}");
}

#[test]
fn an_export_has_no_value_for_what_a_sample_lacks() {
    let folder = tempfile::tempdir().unwrap();
    let dac = dac(folder.path());
    LINES.iter().for_each(|line| write(&dac, line));
    samples(&dac, "from=2025-11-21T00:00:00Z", |_| true, LINES.len());
    drop(dac);
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let file = |format: &str| path(&format!("pump.{format}"));
    let query = "SELECT time_ns, rpm, is_on, starts, note FROM pump_3 ORDER BY time_ns";
    let of = |archive: &str| {
        let query = if archive == "archive" { query.to_owned() } else { query.replace("pump_3", "pump") };
        run(&["sql", "--archive", &path(archive), "--format", "jsonl", &query])
    };
    assert!(of("archive").contains("null"));
    for format in ["mcap", "arrow", "parquet"] {
        let select = ["--archive", &path("archive"), "--format", format, "-o", &file(format)];
        let newest = ["influxdb/pump,unit=7", "--from", "2025-11-21T00:00:02Z"];
        run(&[&["export"][..], &select, &newest].concat());
        run(&["import", "--archive", &path(format), &file(format)]);
        assert_eq!(of(format), of("archive"), "{format}");
    }
    let tables = "SELECT table_name, samples FROM instances ORDER BY table_name";
    let csv = run(&["sql", "--archive", &path("archive"), "--format", "csv", tables]);
    assert_eq!(csv.lines().collect::<Vec<_>>()[1..], ["pump,1", "pump_2,1", "pump_3,3"]);
}
