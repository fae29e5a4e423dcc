//! Archives of earlier releases: `vectors/archives/RELEASE.oasis-backup.zst` has one, `RELEASE.txt` what it answers.

use super::said;
use crate::harness::{Oasis, eventually, get, oasis, repository};
use serde_json::json;
use std::{
    env,
    fs::{self, File},
    path::{Path, PathBuf},
};

/// Queries that an archive must answer as it did. The columns are named: later releases may have more.
const QUERIES: [&str; 6] = [
    "SELECT node, instance, samples, first, last FROM instances ORDER BY instance",
    "SELECT count(*), min(sequence), max(sequence), min(time), max(time) FROM oasis_system_heartbeat_probe",
    "SELECT instance, sequence, time, system_time, idle_time FROM oasis_system_linux_processor_probe ORDER BY sequence",
    "SELECT name, started, stopped FROM test_runs ORDER BY name",
    "SELECT time, text FROM annotations ORDER BY time",
    "SELECT node, instance, cause FROM gaps ORDER BY instance",
];

/// The archives that are kept, without the ends of their names.
fn kept() -> Vec<PathBuf> {
    let files =
        fs::read_dir(repository().join("vectors/archives")).unwrap().map(|entry| entry.unwrap().path());
    let kept: Vec<_> = files
        .filter(|path| path.extension().is_some_and(|end| end == "txt"))
        .map(|path| path.with_extension(""))
        .collect();
    assert!(!kept.is_empty());
    kept
}

/// A file of a kept archive. Releases have dots in their names.
fn file(kept: &Path, end: &str) -> PathBuf {
    PathBuf::from(format!("{}.{end}", kept.display()))
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Restores a kept archive into a folder, and returns where it lies.
fn restored(kept: &Path, folder: &Path) -> PathBuf {
    let backup = folder.join("kept.oasis-backup");
    let packed = File::open(file(kept, "oasis-backup.zst")).unwrap();
    zstd::stream::copy_decode(packed, File::create(&backup).unwrap()).unwrap();
    let to = folder.join("restored");
    said(&["restore", text(&backup), "--to", text(&to)]);
    to.join("archive")
}

fn answers(archive: &Path) -> String {
    let answer = |query| said(&["sql", "--archive", text(archive), "--format", "csv", query]);
    QUERIES.map(|query| format!("{query}\n{}\n", answer(query))).concat()
}

/// Writes what a release keeps: samples in groups and alone, a test run, an annotation.
#[test]
fn record() {
    let Ok(release) = env::var("OASIS_RECORD") else { return };
    let kept = &repository().join("vectors/archives").join(release);
    let folder = tempfile::tempdir().unwrap();
    let [archive, config, backup] =
        ["archive", "oasis.toml", "kept.oasis-backup"].map(|name| folder.path().join(name));
    fs::write(&config, format!("[archive]\ndirectory = {archive:?}\nsegment_seconds = 2\n")).unwrap();
    let dac = Oasis::dac(&["--config", text(&config)]);
    let node = Oasis::node(dac.channel(), &["--probe", "heartbeat@20", "--probe", "processor@5"]);
    let at = ["--url", dac.http()];
    said(&[&["run", "start", "soak"][..], &at].concat());
    said(&[&["annotation", "add", "valve open"][..], &at].concat());
    eventually("groups of batches", || {
        let state = get(&dac, "/api/v1/archive");
        (state["grouped_segments"].as_u64() >= Some(1)).then_some(())
    });
    said(&[&["run", "stop", "soak"][..], &at].concat());
    assert!(node.stop().success() && dac.stop().success());
    said(&["backup", "--archive", text(&archive), "--output", text(&backup)]);
    fs::create_dir_all(kept.parent().unwrap()).unwrap();
    let packed = File::create(file(kept, "oasis-backup.zst")).unwrap();
    zstd::stream::copy_encode(File::open(&backup).unwrap(), packed, 19).unwrap();
    fs::write(file(kept, "txt"), answers(&archive)).unwrap();
}

#[test]
fn archives_of_earlier_releases_answer_as_they_did() {
    for kept in kept() {
        let folder = tempfile::tempdir().unwrap();
        let archive = restored(&kept, folder.path());
        let expected = fs::read_to_string(file(&kept, "txt")).unwrap();
        assert_eq!(answers(&archive), expected, "{}", kept.display());
        said(&["archive", "check", "--archive", text(&archive)]);
    }
}

#[test]
fn a_dac_continues_the_archive_of_an_earlier_release() {
    for kept in kept() {
        let folder = tempfile::tempdir().unwrap();
        let archive = restored(&kept, folder.path());
        let count = |archive: &Path| -> u64 {
            let query = "SELECT count(*) FROM oasis_system_heartbeat_probe";
            let answer = said(&["sql", "--archive", text(archive), "--format", "csv", query]);
            answer.lines().last().unwrap().parse().unwrap()
        };
        let before = count(&archive);
        let dac = Oasis::dac(&["--archive", text(&archive)]);
        let node = Oasis::node(dac.channel(), &["--probe", "heartbeat@50"]);
        crate::harness::ledger(&dac, "plant", "heartbeat", "stored samples", |ledger| {
            ledger["archive"]["stored"].as_u64() >= Some(10)
        });
        assert!(node.stop().success() && dac.stop().success());
        assert!(count(&archive) >= before + 10, "{} has {before} samples", kept.display());
        let runs =
            said(&["sql", "--archive", text(&archive), "--format", "jsonl", "SELECT name FROM test_runs"]);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&runs).unwrap(), json!({"name": "soak"}));
    }
}

/// Returns the output of a command that fails, of both streams.
fn refused(arguments: &[&str]) -> String {
    let done = oasis().args(arguments).output().unwrap();
    assert!(!done.status.success(), "{arguments:?}");
    String::from_utf8([done.stdout, done.stderr].concat()).unwrap()
}

#[test]
fn files_of_a_later_release_are_refused_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let archive = restored(&kept()[0], folder.path());
    let segments = fs::read_dir(&archive).unwrap().map(|entry| entry.unwrap().path());
    let segment = segments.filter(|path| path.extension().is_some_and(|end| end == "oseg")).min().unwrap();
    // docs/reference/archive-files.md: the version, and the checksum of the header.
    let mut bytes = fs::read(&segment).unwrap();
    bytes[8] = 9;
    let checksum = crc32fast::hash(&bytes[..60]);
    bytes[60..64].copy_from_slice(&checksum.to_le_bytes());
    fs::write(&segment, bytes).unwrap();
    let said = refused(&["archive", "check", "--archive", text(&archive)]);
    assert!(said.contains("unsupported segment file version 9") && said.contains("update oasis"), "{said}");

    let folder = tempfile::tempdir().unwrap();
    let archive = restored(&kept()[0], folder.path());
    let catalogue = rusqlite::Connection::open(archive.join("catalogue.sqlite")).unwrap();
    catalogue.pragma_update(None, "user_version", 1_000).unwrap();
    drop(catalogue);
    for verb in ["show", "check"] {
        let said = refused(&["archive", verb, "--archive", text(&archive)]);
        assert!(said.contains("unsupported version 1000") && said.contains("update oasis"), "{said}");
    }
}
