//! Times before 1970 refuse a recording of each format in the same way; `--start` moves them, `--partial` leaves them out.

use oasis_format::{
    input::{Finding, InputError, InputFile, InputOptions},
    inputs,
};
use oasis_wire::batch::Batch;
use std::{io::Cursor, path::Path};

/// Three samples of one series: half a second before 1970, equal to it, and a second after 1970.
const RECORDINGS: [(&str, &str, &str); 7] = [
    ("drive.csv", "drive", "time,x\n-0.5,1\n-0.5,2\n1,3\n"),
    (
        "drive.csv",
        "drive",
        "time,x\n1969-12-31T23:59:59.5Z,1\n1969-12-31 23:59:59.5,2\n1970-01-01T00:00:01Z,3\n",
    ),
    ("drive.csv", "speed", "time,signal,value\n-0.5,speed,1\n-0.5,speed,2\n1,speed,3\n"),
    ("drive.jsonl", "drive", "{\"time\":-0.5,\"x\":1}\n{\"time\":-0.5,\"x\":2}\n{\"time\":1,\"x\":3}\n"),
    (
        "drive.jsonl",
        "tank",
        "{\"node\":\"a\",\"instance\":\"tank\",\"time\":-500000000,\"metrics\":{\"x\":1}}\n{\"node\":\"a\",\"instance\":\"tank\",\"time\":-500000000,\"metrics\":{\"x\":2}}\n{\"node\":\"a\",\"instance\":\"tank\",\"time\":1000000000,\"metrics\":{\"x\":3}}\n",
    ),
    ("drive.lp", "tank", "tank x=1 -500000000\ntank x=2 -500000000\ntank x=3 1000000000\n"),
    ("drive.log", "can0", "(-0.500000) can0 001#01\n(-0.500000) can0 001#02\n(1.000000) can0 001#03\n"),
];
const START: u64 = 1_700_000_000_000_000_000;

type Times = Vec<(u64, u64)>;

fn read(name: &str, text: &str, options: &InputOptions) -> Result<(Times, Vec<Finding>), InputError> {
    let mut found = Times::new();
    let mut content = Cursor::new(text.as_bytes());
    let format = inputs::find(Path::new(name), &mut text.as_bytes()).unwrap().unwrap();
    let mut file = InputFile { path: Path::new(name), content: &mut content };
    let report = (format.read)(&mut file, options, &mut |recorded, batch| {
        let batch = Batch::parse(batch, &recorded.probe_type)?;
        found.extend(batch.samples().map(|sample| (sample.sequence, sample.time)));
        Ok(())
    })?;
    Ok((found, report.findings))
}

#[test]
fn a_refusal_names_channel_number_place_and_remedies() {
    for (name, channel, text) in RECORDINGS {
        let first = if text.starts_with("time,") { 2 } else { 1 };
        let error = read(name, text, &InputOptions::default()).unwrap_err().to_string();
        let expected = format!(
            "2 samples have times before 1970, which an archive cannot have: 2 of {channel} (first: line {first}, 1969-12-31T23:59:59.5Z): move all times with --start TIME, the time of the first sample, or import the rest with --partial"
        );
        assert_eq!(error, expected, "{name}: {text}");
    }
}

#[test]
fn a_start_moves_all_times_by_one_duration() {
    for (name, _, text) in RECORDINGS {
        let options = InputOptions { start: Some(START), ..InputOptions::default() };
        let (times, findings) = read(name, text, &options).unwrap();
        assert_eq!(times, [(1, START), (2, START), (3, START + 1_500_000_000)], "{name}: {text}");
        assert!(findings.iter().all(|of| !of.is_loss), "{name}: {findings:?}");
    }
}

#[test]
fn a_partial_import_counts_them_by_channel() {
    for (name, channel, text) in RECORDINGS {
        let options = InputOptions { is_partial: true, ..InputOptions::default() };
        let (times, findings) = read(name, text, &options).unwrap();
        assert_eq!(times, [(1, 1_000_000_000)], "{name}: {text}");
        let losses: Vec<_> =
            findings.iter().filter(|of| of.is_loss).map(|of| (of.subject.as_deref(), of.count)).collect();
        assert_eq!(losses, [(Some(channel), 2)], "{name}: {findings:?}");
    }
}
