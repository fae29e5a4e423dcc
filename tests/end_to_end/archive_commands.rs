//! Commands that read an archive: how they find it, and their errors.

use crate::harness::{Oasis, ledger, oasis};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::Value;
use std::{
    fs::{self, File},
    process::{Output, Stdio},
};
use tempfile::TempDir;

const TABLE: &str = "oasis_system_linux_processor_probe";

/// A folder with `oasis.toml`, which names the archive in it, and a DAC that has stored samples of two types there.
struct RecordedArchive {
    folder: TempDir,
    dac: Oasis,
    _node: Oasis,
}

impl RecordedArchive {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let archive = folder.path().join("archive");
        let config = folder.path().join("oasis.toml");
        fs::write(&config, format!("[archive]\ndirectory = {archive:?}\n")).unwrap();
        let dac = Oasis::dac(&["--config", config.to_str().unwrap()]);
        let node = Oasis::node(dac.channel(), &["--probe", "processor@200", "--probe", "heartbeat@50"]);
        let stored = |ledger: &Value| ledger["archive"]["stored"].as_u64() > Some(50);
        for name in ["processor", "heartbeat"] {
            ledger(&dac, "plant", name, "samples stored", stored);
        }
        Self { folder, dac, _node: node }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }
}

fn ran(arguments: &[&str]) -> Output {
    oasis().args(arguments).stdin(Stdio::null()).output().unwrap()
}

/// Its standard error when it fails.
fn refused(arguments: &[&str]) -> String {
    let output = ran(arguments);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && output.stdout.is_empty(), "{arguments:?}: {said}");
    said
}

#[test]
fn commands_read_the_archive_that_the_configuration_names() {
    let recorded = RecordedArchive::new();
    let config = recorded.path("oasis.toml");
    let by_flag = ran(&["sql", "--config", &config, ".tables"]);
    assert!(String::from_utf8_lossy(&by_flag.stdout).contains(TABLE), "{by_flag:?}");
    let mut export = oasis();
    export.args(["export", "plant/processor"]).env("OASIS_CONFIG", &config);
    let by_environment = export.output().unwrap();
    assert!(
        String::from_utf8_lossy(&by_environment.stdout).contains("plant,processor,"),
        "{by_environment:?}"
    );
    // The nearer one takes precedence.
    assert!(
        refused(&["sql", "--config", &config, "--archive", "/nowhere", ".tables"])
            .contains("/nowhere is not an archive")
    );
    for command in [
        &["sql", ".tables"][..],
        &["export"],
        &["import", "x.mcap"],
        &["replay", "night"],
        &["archive", "show"],
        &["archive", "check"],
    ] {
        let said = refused(command);
        assert!(said.contains("--archive DIR") && said.contains("--config FILE"), "{command:?}: {said}");
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let recorded = RecordedArchive::new();
    let archive = recorded.path("archive");
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n";
    for format in ["csv", "jsonl", "table"] {
        let mut sql = oasis();
        sql.args(["sql", "--archive", &archive, endless, "--format", format]);
        left_alone(sql);
    }
    for format in ["csv", "jsonl", "mcap"] {
        let mut export = oasis();
        export.args(["export", "--archive", &archive, "plant/processor", "--format", format]);
        left_alone(export);
    }
}

/// Its output is not read.
fn left_alone(mut command: std::process::Command) {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !said.contains("Broken pipe"), "{command:?}: {said}");
}

#[test]
fn bytes_do_not_go_to_a_terminal() {
    let recorded = RecordedArchive::new();
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let screen = File::options().write(true).open(name.to_str().unwrap()).unwrap();
    let mut export = oasis();
    export.args(["export", "--archive", &recorded.path("archive"), "--format", "mcap"]);
    let output = export.stdout(screen).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("-o FILE"), "{said}");
}

#[test]
fn instances_of_several_types_are_refused_before_anything_is_written() {
    let recorded = RecordedArchive::new();
    let archive = recorded.path("archive");
    let said = refused(&["export", "--archive", &archive]);
    assert!(said.contains("one probe type") && said.contains("--format jsonl"), "{said}");
    // The other type has no samples in the requested time span.
    let nothing = ran(&["export", "--archive", &archive, "--to", "2000-01-01"]);
    let said = String::from_utf8_lossy(&nothing.stderr);
    assert!(
        nothing.status.success() && said.contains("plant/processor: nothing is stored of that time"),
        "{said}"
    );
}

#[test]
fn a_folder_gets_a_table_of_each_type() {
    let recorded = RecordedArchive::new();
    let (archive, folder) = (recorded.path("archive"), recorded.path("tables/"));
    let output = ran(&["export", "--archive", &archive, "-o", &folder]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && said.contains(&format!("{folder}{TABLE}.csv: ")), "{said}");
    for (name, instance) in [(TABLE, "processor"), ("oasis_system_heartbeat_probe", "heartbeat")] {
        let table = fs::read_to_string(format!("{folder}{name}.csv")).unwrap();
        let mut lines = table.lines();
        assert!(lines.next().unwrap().starts_with("node,instance,"), "{table}");
        assert!(lines.clone().count() > 50, "{table}");
        assert!(lines.all(|line| line.starts_with(&format!("plant,{instance},"))), "{table}");
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
    // Formats other than tables write one file.
    assert!(
        refused(&["export", "--archive", &archive, "--format", "jsonl", "-o", &folder])
            .contains("is a folder")
    );
    assert!(
        refused(&["export", "--archive", &archive, "--to", "1971-01-01", "-o", &folder])
            .contains("nothing is stored")
    );
}

#[test]
fn an_archive_is_shown_and_checked_while_its_dac_is_at_work() {
    let recorded = RecordedArchive::new();
    let archive = recorded.path("archive");
    let printed = |verb: &str, format: &str| {
        let output = ran(&["archive", verb, "--archive", &archive, "--format", format]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let shown: Value = serde_json::from_str(&printed("show", "json")).unwrap();
    let names: Vec<_> = shown["instances"].as_array().unwrap().iter().map(|of| &of["instance"]).collect();
    assert_eq!(names, ["heartbeat", "processor"], "{shown}");
    assert!(
        shown["samples"].as_u64() > Some(100) && shown["segment_files"]["bytes"].as_u64() > Some(1_000),
        "{shown}"
    );
    let text = printed("show", "text");
    assert!(
        text.contains("\nINSTANCE ")
            && text.contains("\nplant/processor  OASIS::System::LinuxProcessorProbe "),
        "{text}"
    );
    assert_eq!(printed("check", "json"), "");
    assert!(printed("check", "text").contains("no damage"));

    // Damage gives an error status.
    let RecordedArchive { folder, dac, _node } = recorded;
    drop(_node);
    assert!(dac.stop().success());
    let files = fs::read_dir(folder.path().join("archive")).unwrap().map(|entry| entry.unwrap().path());
    let file =
        files.into_iter().find(|path| path.extension().is_some_and(|ending| ending == "oseg")).unwrap();
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&file, bytes).unwrap();
    let output = ran(&["archive", "check", "--archive", &archive]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("0000000001.oseg, bytes ") && said.contains("1 place damaged"), "{said}");
}

#[test]
fn an_invalid_archive_or_address_is_named() {
    let recorded = RecordedArchive::new();
    let (archive, file) = (recorded.path("archive"), recorded.path("oasis.toml"));
    for command in [
        &["sql", ".tables"][..],
        &["export"],
        &["import", "x.mcap"],
        &["replay", "night"],
        &["dac"],
        &["archive", "check"],
    ] {
        let said = refused(&[command, &["--archive", &file]].concat());
        assert!(said.contains("is a file") && said.contains(&file), "{command:?}: {said}");
    }
    let said = refused(&["replay", &archive, "--dac", &recorded.dac.url()]);
    assert!(said.contains("--dac") && said.contains("HOST:PORT"), "{said}");
    assert!(!said.contains("playing"), "{said}");
    for change in
        [format!("DELETE FROM {TABLE}"), format!("DROP TABLE {TABLE}"), "UPDATE nodes SET name = ''".into()]
    {
        let said = refused(&["sql", "--archive", &archive, &change]);
        assert!(said.contains("the archive is read-only") && said.contains("SELECT"), "{change}: {said}");
    }
    let said = refused(&["sql", "--archive", &archive, "SELECT 1; SELECT 2"]);
    assert!(said.contains("one SELECT at a time"), "{said}");
}
