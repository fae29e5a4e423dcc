//! Sealed segments as Parquet objects (`docs/guides/offload-to-object-storage.md`).

use crate::harness::{Oasis, eventually, eventually_shown, instance, kills, ledger, oasis};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};
use tempfile::TempDir;

/// Times that the DAC is killed.
const KILLS: u32 = 3;
/// Samples of a round.
const SAMPLES: u64 = 300;

struct Setup {
    folder: TempDir,
    config: PathBuf,
    archive: PathBuf,
    objects: PathBuf,
}

impl Setup {
    fn new() -> Self {
        Self::with_archive("segment_seconds = 1")
    }

    fn with_archive(settings: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let [config, archive, objects] =
            ["oasis.toml", "archive", "objects"].map(|name| folder.path().join(name));
        let text = format!(
            "[rules]\nenabled = false\n\n[archive]\n{settings}\n\n[offload]\nurl = \"file://{}\"\nafter_seconds = 0\n",
            objects.display()
        );
        fs::write(&config, text).unwrap();
        Self { folder, config, archive, objects }
    }

    fn arguments(&self) -> [&str; 4] {
        ["--config", self.config.to_str().unwrap(), "--archive", self.archive.to_str().unwrap()]
    }

    /// Files below a folder whose names end so.
    fn files(&self, end: &str) -> Vec<PathBuf> {
        let (mut found, mut folders) = (Vec::new(), vec![self.objects.clone()]);
        while let Some(at) = folders.pop() {
            for entry in fs::read_dir(at).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => folders.push(path),
                    false if path.to_str().unwrap().ends_with(end) => found.push(path),
                    false => {}
                }
            }
        }
        found
    }

    /// The manifests: samples in their objects, and in their gaps.
    fn manifests(&self) -> (u64, u64) {
        let (mut samples, mut missing) = (0, 0);
        if !self.objects.is_dir() {
            return (0, 0);
        }
        for path in self.files(".json") {
            let manifest: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
            let objects = manifest["objects"].as_array().unwrap();
            for object in objects {
                let file = self.objects.join(object["path"].as_str().unwrap());
                assert_eq!(fs::metadata(file).unwrap().len(), object["bytes"].as_u64().unwrap());
                samples += object["rows"].as_u64().unwrap();
            }
            let gaps = manifest["gaps"].as_array().unwrap();
            missing += gaps.iter().map(|gap| gap["samples"].as_u64().unwrap()).sum::<u64>();
        }
        (samples, missing)
    }

    /// All samples of the objects, read by an import into another archive.
    fn imported(&self) -> BTreeMap<(String, u64), Value> {
        let archive = self.folder.path().join("imported");
        for file in self.files(".parquet") {
            let file = file.to_str().unwrap();
            let (is_done, _, said) = crate::recordings::run("import", &archive, &[file]);
            assert!(is_done, "{file}: {said}");
        }
        samples(&archive)
    }
}

/// All samples of an archive, by run and number: times and metrics.
fn samples(archive: &Path) -> BTreeMap<(String, u64), Value> {
    let (is_done, out, said) = crate::recordings::run("export", archive, &["--format", "jsonl"]);
    assert!(is_done, "{said}");
    let mut found = BTreeMap::new();
    for line in String::from_utf8(out).unwrap().lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let key = (line["run"].as_str().unwrap().to_owned(), line["sequence"].as_u64().unwrap());
        let value = serde_json::json!([line["instance"], line["time"], line["metrics"]]);
        assert_eq!(found.insert(key, value), None, "a sample is there twice: {line}");
    }
    found
}

/// The handler, as `oasis handlers` shows it.
fn handler(dac: &Oasis) -> Value {
    let output = oasis().args(["handlers", "--json", "--url", dac.http()]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut all = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    all.find(|handler| handler["name"] == "offload").unwrap()
}

fn all_is_copied(dac: &Oasis, setup: &Setup) {
    eventually_shown("all samples are stored", || {
        let found = instance(dac, "plant", "processor").unwrap_or_default();
        let (received, stored) = (&found["ledger"]["received"], &found["ledger"]["archive"]["stored"]);
        if received.is_u64() && received == stored { Ok(()) } else { Err(found.clone()) }
    });
    eventually_shown("all segments are copied", || {
        let state = handler(dac)["state"].clone();
        let in_archive = samples(&setup.archive).len() as u64;
        let is_done = state["waiting_segments"] == 0 && setup.manifests().0 == in_archive;
        if is_done { Ok(()) } else { Err(state) }
    });
}

#[test]
fn each_sample_is_in_one_object_although_the_dac_is_killed() {
    let setup = Setup::new();
    let mut dac = Oasis::dac(&setup.arguments());
    let (listen, channel) = (dac.listen().to_owned(), dac.channel().to_owned());
    let node = Oasis::node(&channel, &["--probe", "processor@200"]);
    let kills = kills(KILLS);
    for _ in 0..kills {
        let before = setup.manifests().0;
        eventually("more samples are copied", || (setup.manifests().0 >= before + SAMPLES).then_some(()));
        dac.kill();
        dac = Oasis::dac_at(&listen, &channel, &setup.arguments());
        eventually("the node is back", || {
            (instance(&dac, "plant", "processor")?["state"] == "online").then_some(())
        });
    }
    node.stop();
    all_is_copied(&dac, &setup);
    let metrics =
        ureq::get(format!("{}/metrics", dac.http())).call().unwrap().body_mut().read_to_string().unwrap();
    assert!(metrics.contains("oasis_handler_copied_segments_total{handler=\"offload\"}"), "{metrics}");
    assert!(dac.stop().success());

    let in_archive = samples(&setup.archive);
    let (copied, missing) = setup.manifests();
    println!(
        "{kills} kills: {copied} samples in {} objects, {missing} missing",
        setup.files(".parquet").len()
    );
    assert_eq!(setup.imported(), in_archive);
    assert_eq!(copied, in_archive.len() as u64);
}

#[test]
fn a_destination_that_cannot_be_used_is_a_problem_until_it_can() {
    let setup = Setup::new();
    fs::write(&setup.objects, b"in the way").unwrap();
    let dac = Oasis::dac(&setup.arguments());
    let node = Oasis::node(dac.channel(), &["--probe", "processor@50"]);
    ledger(&dac, "plant", "processor", "a hundred samples", |ledger| ledger["received"].as_u64() > Some(100));
    eventually_shown("the handler has failed", || {
        let handler = handler(&dac);
        let why = handler["state"]["last_error"].as_str().unwrap_or_default().to_owned();
        if why.contains("offload.url") { Ok(()) } else { Err(handler) }
    });
    node.stop();
    fs::remove_file(&setup.objects).unwrap();
    all_is_copied(&dac, &setup);
    assert!(dac.stop().success());
    assert_eq!(setup.imported(), samples(&setup.archive));
}

#[test]
fn segments_that_are_evicted_while_the_destination_fails_are_counted() {
    let setup = Setup::with_archive(
        "segment_bytes = 4096\nsegment_seconds = 1\nretention = [{ instances = \"*\", bytes = 40960 }]",
    );
    fs::write(&setup.objects, b"in the way").unwrap();
    let dac = Oasis::dac(&setup.arguments());
    let node = Oasis::node(dac.channel(), &["--probe", "processor@1000"]);
    eventually_shown("segments are evicted", || {
        let handler = handler(&dac);
        if handler["state"]["evicted_segments"].as_u64() >= Some(3) { Ok(()) } else { Err(handler) }
    });
    node.stop();
    fs::remove_file(&setup.objects).unwrap();
    eventually_shown("the others are copied", || {
        let state = handler(&dac)["state"].clone();
        let is_copied = state["waiting_segments"] == 0 && state["copied_segments"].as_u64() >= Some(1);
        let is_done = is_copied && state["condition"] == "copying";
        if is_done && state["evicted_segments"].as_u64() >= Some(3) { Ok(()) } else { Err(state) }
    });
    assert!(dac.stop().success());
}
