//! `oasis backup` while a DAC runs, and `oasis restore` elsewhere.

use crate::harness::{Oasis, eventually, get, ledger, oasis, request};
use serde_json::{Value, json};
use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Output, Stdio},
};

const RULES: &str = r#"input cpu = "*/processor" : OASIS::System::LinuxProcessorProbe;

alarm Runs {
  raise cpu.idle_time + cpu.user_time > 0 {jiffy};
}
"#;

fn ran(arguments: &[&str]) -> Output {
    oasis().args(arguments).stdin(Stdio::null()).output().unwrap()
}

fn succeeded(arguments: &[&str]) -> String {
    let output = ran(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn refused(arguments: &[&str]) -> String {
    let output = ran(arguments);
    assert!(!output.status.success(), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn stored(ledger: &Value) -> u64 {
    ledger["archive"]["stored"].as_u64().unwrap_or_default()
}

/// Returns the number of samples of the probe in an archive, and the first and the last sequence number.
fn samples(archive: &Path) -> (u64, u64, u64) {
    let query = "SELECT count(*) AS n, min(sequence) AS first, max(sequence) AS last FROM oasis_system_linux_processor_probe";
    let row = succeeded(&["sql", "--archive", text(archive), "--format", "jsonl", query]);
    let row: Value = serde_json::from_str(row.lines().next().unwrap()).unwrap();
    let number = |name: &str| row[name].as_u64().unwrap();
    (number("n"), number("first"), number("last"))
}

#[test]
fn a_backup_under_load_has_all_that_was_stored_and_starts_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let [config, rules, backup, target] = ["oasis.toml", "plant.rules", "plant.backup", "restored"].map(at);
    fs::write(&rules, RULES).unwrap();
    fs::write(
        &config,
        format!(
            "[archive]\ndirectory = {:?}\nsegment_seconds = 2\n[access]\ndirectory = {:?}\n[doors]\nlayouts_dir = {:?}\n[rules]\nfiles = [\"plant.rules\"]\n",
            at("samples"), at("access"), at("layouts"),
        ),
    )
    .unwrap();
    succeeded(&["token", "create", "grafana", "--role", "viewer", "--access", text(&at("access"))]);
    let dac = Oasis::dac(&["--config", text(&config)]);
    let node = Oasis::node(dac.channel(), &["--probe", "processor@500"]);
    assert_eq!(request(&dac, "PUT", "/api/v1/layouts/night", Some(&json!({"panels": []}))).0, 204);
    eventually("the alarm is raised", || {
        get(&dac, "/api/v1/alarms")["alarms"].as_array().filter(|alarms| !alarms.is_empty()).cloned()
    });
    let before =
        stored(&ledger(&dac, "plant", "processor", "samples are stored", |ledger| stored(ledger) > 2_000));
    succeeded(&["backup", "--config", text(&config), "--output", text(&backup)]);
    // As kill -9 does.
    drop((dac, node));
    assert_eq!(fs::metadata(&backup).unwrap().permissions().mode() & 0o777, 0o600, "it has secrets");
    assert!(refused(&["backup", "--config", text(&config), "-o", text(&backup)]).contains("exists"));

    let said = succeeded(&["restore", text(&backup), "--to", text(&target)]);
    assert!(said.contains("oasis dac --config"), "{said}");
    assert!(refused(&["restore", text(&backup), "--to", text(&target)]).contains("not an empty folder"));
    // The restored DAC must not need what it was copied from.
    for name in ["samples", "samples-rules", "access", "layouts"] {
        fs::remove_dir_all(at(name)).unwrap();
    }
    fs::remove_file(&rules).unwrap();
    let restored = Oasis::dac(&["--config", text(&target.join("oasis.toml"))]);
    let (count, first, last) = samples(&target.join("archive"));
    assert!(
        count >= before && first == 1 && last == count,
        "{count} samples, {first} to {last}, {before} were stored"
    );
    assert!(
        get(&restored, "/api/v1/archive")["findings"]
            .as_array()
            .unwrap()
            .iter()
            .all(|finding| finding["kind"] == "torn_tail")
    );
    assert_eq!(get(&restored, "/api/v1/layouts/night")["panels"], json!([]));
    let alarms = get(&restored, "/api/v1/alarms");
    assert_eq!(alarms["alarms"][0]["rule"], "Runs", "{alarms}");
    assert!(succeeded(&["token", "list", "--access", text(&target.join("access"))]).contains("grafana"));
    succeeded(&["audit-log", "verify", "--access", text(&target.join("access"))]);
    succeeded(&["archive", "check", "--archive", text(&target.join("archive"))]);
}

#[test]
fn damaged_and_hostile_backups_are_refused_and_leave_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("access")).unwrap();
    fs::write(at("access").join("access.toml"), "# nothing\n").unwrap();
    let [backup, target] = ["plant.backup", "restored"].map(at);
    let access = at("access");
    let mine = ["backup", "--access", text(&access), "-o", text(&backup)];
    succeeded(&mine);
    let good = fs::read(&backup).unwrap();
    let restore = |bytes: &[u8]| {
        fs::write(at("hostile"), bytes).unwrap();
        let said = refused(&["restore", text(&at("hostile")), "--to", text(&target)]);
        assert!(!target.exists());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3, "{said}");
        said
    };
    let mut flipped = good.clone();
    let content = good.windows(9).position(|window| window == b"# nothing").unwrap();
    flipped[content] ^= 1;
    assert!(restore(&flipped).contains("does not match its checksum"));
    let cut = restore(&good[..good.len() / 2]);
    assert!(cut.contains("truncated") && cut.contains(&format!("after {} bytes", good.len() / 2)), "{cut}");
    assert!(restore(b"PK").contains("not a backup"));
    assert!(refused(&["backup", "-o", "-", "--access", text(&at("nowhere"))]).contains("is no folder"));
}
