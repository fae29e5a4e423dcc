//! Arrow streams and Parquet files, read back with the libraries that people read them with (`make test-arrow`).

use super::{
    plant::{Plant, Put, named, plant},
    run,
};
use crate::harness::{Oasis, ledger, repository};
use serde_json::{Value, json};
use std::{fs, path::Path, process::Command};

/// Returns what Python reads: the metadata of the file, the units, the rows.
fn read(path: &Path) -> (Value, Value, Vec<Value>) {
    let python = std::env::var("OASIS_TEST_PYTHON")
        .unwrap_or_else(|_| repository().join("target/venv/bin/python").to_string_lossy().into_owned());
    let script = repository().join("tests/end_to_end/recordings/read_table.py");
    let done = Command::new(&python).arg(script).arg(path).output();
    let done =
        done.unwrap_or_else(|error| panic!("{python}: {error}; make test-arrow installs what is needed"));
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let mut lines = done.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let mut next = || lines.next().map(|line| serde_json::from_slice(line).unwrap());
    (next().unwrap(), next().unwrap(), std::iter::from_fn(next).collect())
}

fn expected((node, instance): (&str, &str), run: u128, put: &Put) -> Value {
    let mut row = json!({
        "node": node, "instance": instance, "run": uuid::Uuid::from_u128(run).to_string(),
        "sequence": put.sequence, "time": put.time, "state": put.state,
    });
    let metrics = named(put);
    // A metric called time is not the sample's.
    let metric = |(name, value): (&String, &Value)| {
        (if name == "time" { "time_2".into() } else { name.clone() }, value.clone())
    };
    row.as_object_mut().unwrap().extend(metrics.as_object().unwrap().iter().map(metric));
    row
}

#[test]
fn arrow_and_parquet_have_every_sample_with_its_types() {
    let folder = tempfile::tempdir().unwrap();
    let Plant { archive, samples } = plant(folder.path());
    for ((node, instance), put) in &samples {
        for format in ["arrow", "parquet"] {
            let path = folder.path().join(format!("table.{format}"));
            let target = format!("{node}/{instance}");
            let to = path.to_str().unwrap();
            let (is_done, _, said) = run("export", &archive, &[&target, "--format", format, "-o", to]);
            assert!(is_done, "{said}");
            let (about, units, mut rows) = read(&path);
            assert_eq!(about["oasis.type"], put[0].probe_type.name);
            if node == "plant" {
                assert_eq!(units, json!({"level": "m"}));
            }
            for row in &mut rows {
                let row = row.as_object_mut().unwrap();
                assert!(
                    row.remove("epoch").unwrap().as_str().unwrap().len() == 16
                        && row.remove("offset").is_some()
                );
            }
            let run = |put: &Put| {
                if node != "plant" {
                    9
                } else if put.time < 400_000_000_000 {
                    1
                } else {
                    2
                }
            };
            let wanted: Vec<_> = put.iter().map(|put| expected((node, instance), run(put), put)).collect();
            assert_eq!(rows.len(), wanted.len());
            for (row, wanted) in rows.iter().zip(&wanted) {
                assert_eq!(row, wanted, "{format}");
            }
        }
    }
    let (is_done, _, said) = run("export", &archive, &["--format", "arrow"]);
    assert!(!is_done && said.contains("columns of one probe type"), "{said}");
    let (is_done, _, said) = run("export", &archive, &["plant/tank", "--format", "parquet", "--to", "1"]);
    assert!(!is_done && said.contains("no sample in this time span"), "{said}");
}

#[test]
fn history_is_a_table_over_http_with_an_archive_and_without() {
    let folder = tempfile::tempdir().unwrap();
    let forms = ["vnd.apache.arrow.stream", "vnd.apache.parquet"];
    for (is_archived, form) in [true, false].into_iter().flat_map(|is| forms.map(|form| (is, form))) {
        let ending = if form.ends_with("stream") { "arrow" } else { "parquet" };
        let archive = folder.path().join(format!("archive-{ending}"));
        let more = if is_archived { &["--archive", archive.to_str().unwrap()][..] } else { &[] };
        let arguments =
            [&["--name", "plant", "--probe", "processor@200", "--probe", "memory"][..], more].concat();
        let up = Oasis::up(&arguments);
        let wanted = |ledger: &Value| ledger["received"].as_u64() > Some(100);
        let account = ledger(&up, "plant", "processor", "samples", wanted);
        let url = format!("{}/api/v1/history.{ending}", up.http());
        let mut answer = ureq::get(format!("{url}?node=plant&instance=processor")).call().unwrap();
        assert_eq!(answer.headers()["content-type"], format!("application/{form}"));
        let path = folder.path().join(format!("http.{ending}"));
        fs::write(&path, answer.body_mut().with_config().limit(1 << 30).read_to_vec().unwrap()).unwrap();
        let (about, _, rows) = read(&path);
        assert_eq!(about["oasis.type"], "OASIS::System::LinuxProcessorProbe");
        let numbers: Vec<_> = rows.iter().map(|row| row["sequence"].as_u64().unwrap()).collect();
        assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
        assert!(numbers.len() as u64 >= account["received"].as_u64().unwrap());

        let middle = rows[50]["time"].as_u64().unwrap();
        let mut answer =
            ureq::get(format!("{url}?node=plant&instance=processor&from={middle}&to={}", middle + 1))
                .call()
                .unwrap();
        fs::write(&path, answer.body_mut().read_to_vec().unwrap()).unwrap();
        assert_eq!(read(&path).2[0]["sequence"], 51);

        for (query, status, problem) in [
            ("?node=plant&instance=nobody", 404, "unknown_instance"),
            ("?node=plant&instance=processor&node=gone&instance=processor", 404, "unknown_instance"),
            ("?node=plant&instance=processor&to=1", 404, "no_samples"),
            ("?node=plant&instance=processor&instance=memory", 422, "several_types"),
            ("?node=plant&instance=processor&from=then", 400, "bad_parameter"),
        ] {
            let mut answer = ureq::get(format!("{url}{query}"))
                .config()
                .http_status_as_error(false)
                .build()
                .call()
                .unwrap();
            assert_eq!(answer.status(), status, "{query}");
            let said = answer.body_mut().read_to_string().unwrap();
            assert!(said.contains(&format!("/problems/{problem}\"")), "{query}: {said}");
        }
    }
}
