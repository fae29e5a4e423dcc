//! Recordings become part of the archive of a DAC that runs, as they would offline.

use super::{lines, missing_in, run};
use crate::harness::{Guarded, Oasis, oasis};
use serde_json::{Value, json};
use std::{fs, path::Path};

/// Two series; the second has a text.
const TABLE: &str = "time,speed [m/s],state\n\
    2024-05-01T10:00:00Z,1.5,idle\n2024-05-01T10:00:01Z,2.5,run\n2024-05-01T10:00:02Z,,run\n";

/// Imports into a DAC: the exit status, standard output, standard error.
fn import(url: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
    let done = oasis().args(["import", "--url", url]).args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (done.status.code(), text(done.stdout), text(done.stderr))
}

/// Imports into an archive: the same.
fn offline(archive: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let done = oasis().arg("import").arg("--archive").arg(archive).args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (done.status.code(), text(done.stdout), text(done.stderr))
}

/// The missing samples of an archive.
fn missing(archive: &Path, to: &Path) -> Vec<Value> {
    let (is_done, _, said) = run("export", archive, &["--format", "mcap", "-o", to.to_str().unwrap()]);
    assert!(is_done, "{said}");
    missing_in(&fs::read(to).unwrap())
}

/// The samples without those of the DAC's own node.
fn of_recordings(archive: &Path) -> Vec<((String, String), Vec<Value>)> {
    lines(archive).into_iter().filter(|((_, instance), _)| instance != "heartbeat").collect()
}

#[test]
fn a_running_dac_imports_as_its_archive_would_offline() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let plant = super::plant(folder.path());
    let (table, mcap, packed) = (file("table.csv"), file("all.mcap"), file("again.csv.gz"));
    super::export(&plant.archive, "mcap", Path::new(&mcap));
    fs::write(&table, TABLE).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(fs::File::create(&packed).unwrap(), Default::default());
    std::io::Write::write_all(&mut gzip, TABLE.as_bytes()).unwrap();
    gzip.finish().unwrap();
    let (apart, beside) = (folder.path().join("apart"), folder.path().join("beside"));
    let up = Oasis::up(&["--archive", beside.to_str().unwrap(), "--probe", "heartbeat"]);
    let url = format!("http://{}", up.listen());
    for arguments in [
        &["--describe", &table][..],
        &["--describe", "--json", &table, &mcap],
        &["--instance", "car", &table],
        &["--instance", "car", &table],
        &[&mcap, &packed],
        &["--delimiter", "ab", &table],
        &["--format", "nothing", &table],
        &[&file("absent.csv")],
    ] {
        assert_eq!(import(&url, arguments), offline(&apart, arguments), "{arguments:?}");
    }
    let (status, nodes) = super::get(&format!("{url}/api/v1/nodes"));
    let nodes = String::from_utf8(nodes).unwrap();
    assert!(status == 200 && ["\"table\"", "\"again\""].iter().all(|name| nodes.contains(name)), "{nodes}");
    let (_, past) = super::get(&format!("{url}/api/v1/archive/instances?node=table&instance=car"));
    let past: Value = serde_json::from_slice(&past).unwrap();
    assert_eq!(past["instances"][0]["oldest_time"], 1_714_557_600_000_000_000_u64, "{past}");
    assert!(up.stop().success());
    assert_eq!(of_recordings(&beside), of_recordings(&apart));
    let (to, other) = (folder.path().join("to.mcap"), folder.path().join("other.mcap"));
    assert_eq!(missing(&beside, &to), missing(&apart, &other));
    assert_eq!(fs::read_dir(folder.path().join("beside-imports")).unwrap().count(), 0);
}

#[test]
fn a_file_that_a_running_dac_refuses_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("archive");
    let dac = Oasis::dac(&["--archive", archive.to_str().unwrap()]);
    let url = format!("http://{}", dac.listen());
    for (name, content, why) in [
        ("text.dat", &b"a text\n"[..], "the format of the file is unknown"),
        ("empty.csv", b"", "nothing was imported"),
        ("<b>&.mcap", b"\x89MCAP0\r\n cut", "nothing was imported"),
        ("cut.csv.zst", &[0x28, 0xb5, 0x2f, 0xfd, 0, 1], "unpacking"),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, content).unwrap();
        let (status, _, said) = import(&url, &[path.to_str().unwrap()]);
        assert!(status == Some(1) && said.contains(why), "{name}: {said}");
        assert!(!said.contains("archive-imports"), "{said}");
    }
    let files = fs::read_dir(&archive).unwrap().map(|entry| entry.unwrap().path());
    let left: Vec<_> = files
        .filter(|path| path.ends_with("import.part") || path.extension() == Some("oseg".as_ref()))
        .collect();
    assert!(left.is_empty(), "{left:?}");
    let without = Oasis::dac(&[]);
    let path = folder.path().join("table.csv");
    fs::write(&path, TABLE).unwrap();
    let (status, _, said) = import(&format!("http://{}", without.listen()), &[path.to_str().unwrap()]);
    assert!(status == Some(1) && said.contains("this DAC has no archive"), "{said}");
}

#[test]
fn an_import_needs_a_permission_and_is_recorded() {
    let guarded = Guarded::new();
    let reader = guarded.token("reader", &["read */*", "sql */*"]);
    let new = json!({"name": "table.csv"});
    assert_eq!(guarded.request(&reader, "POST", "/api/v1/imports", Some(&new)).0, 403);
    for bad in ["../table.csv", "", ".lock", "a/b"] {
        assert_eq!(guarded.request("", "POST", "/api/v1/imports", Some(&json!({"name": bad}))).0, 422);
    }
    let made = guarded.json("", "POST", "/api/v1/imports", Some(&new));
    let path = format!("/api/v1/imports/{}", made["id"].as_str().unwrap());
    assert_eq!(guarded.request(&reader, "GET", &path, None).0, 403);
    guarded.json("", "PUT", &format!("{path}/files/table.csv?offset=0"), Some(&json!([1])));
    let (status, refused) = guarded.request("", "PUT", &format!("{path}/files/table.csv?offset=0"), None);
    assert!(status == 409 && refused.contains("import_offset"), "{refused}");
    assert_eq!(guarded.request("", "POST", &format!("{path}/store"), Some(&json!({"rate": -1}))).0, 422);
    guarded.request("", "POST", &format!("{path}/store"), Some(&json!({})));
    let failed = crate::harness::eventually("the end of the import", || {
        let state = guarded.json("", "GET", &path, None);
        (state["state"] == "failed").then_some(state)
    });
    assert!(failed["stored"].is_null() && !failed["error"].is_null(), "{failed}");
    let records = guarded.json("", "GET", "/api/v1/audit-log?action=import&target=table.csv", None);
    let results = records["records"].to_string();
    assert!(results.contains("begun") && results.contains("failed"), "{records}");
    assert_eq!(guarded.request("", "DELETE", &path, None).0, 204);
    assert_eq!(guarded.request("", "GET", &path, None).0, 404);
}
