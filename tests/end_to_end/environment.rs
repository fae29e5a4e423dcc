//! Each command goes where the environment says: `OASIS_URL`, `OASIS_DAC`, `OASIS_ARCHIVE`, `OASIS_CONFIG`.

use crate::harness::oasis;
use std::{fs, process::Stdio, thread};

/// An address where nothing listens, no address at all, and paths that do not exist.
const NO_DAC: &str = "http://127.0.0.1:1";
const NO_ADDRESS: &str = "nowhere";
const NO_FOLDER: &str = "/nowhere/archive";
const NO_FILE: &str = "/nowhere/oasis.toml";

/// A variable, its value, and command lines that fail with that value in their message. Each command of the table in
/// `docs/reference/environment.md` is there.
const CASES: [(&str, &str, &[&str]); 4] = [
    (
        "OASIS_URL",
        NO_DAC,
        &[
            "list",
            "tail a/b -n 1",
            "alarms",
            "loss",
            "command a/b sample-now",
            "settings list",
            "label list",
            "run list",
            "annotation list",
            "archive status",
            "import x.csv",
            "sql .tables",
            "handlers",
            "notify list",
            "threads",
            "audit-log show",
            "pdl infer a/b",
            "rules list",
            "user sign-in-link",
        ],
    ),
    ("OASIS_DAC", NO_ADDRESS, &["node", "replay x"]),
    (
        "OASIS_ARCHIVE",
        NO_FOLDER,
        &[
            "up",
            "dac",
            "archive show",
            "export",
            "import x.csv",
            "sql .tables",
            "rules check x.rules",
            "replay x",
            "backup --output x.tar",
            "doctor",
        ],
    ),
    (
        "OASIS_CONFIG",
        NO_FILE,
        &[
            "up",
            "demo",
            "node",
            "dac",
            "tem",
            "relay",
            "archive show",
            "export",
            "import x.csv",
            "replay x",
            "sql .tables",
            "doctor",
            "user list",
            "token list",
            "role list",
            "audit-log show",
            "backup --output x.tar",
            "rules check x.rules",
        ],
    ),
];

/// Runs a command in a folder with a small recording. Returns its problem, if it does not obey the variable.
fn problem(variable: &str, value: &str, line: &str) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("x.csv"), "time,node,instance,a\n2026-01-01T00:00:00Z,n,i,1\n").unwrap();
    fs::write(folder.path().join("x.rules"), "").unwrap();
    // A file is the parent of the archive: root, too, makes no folder in it.
    let value = if value == NO_FOLDER {
        format!("{}/x.rules/archive", folder.path().display())
    } else {
        value.to_owned()
    };
    let mut command = oasis();
    command.args(line.split(' ')).env(variable, &value).current_dir(&folder).stdin(Stdio::null());
    command
        .env("HOME", folder.path())
        .env("XDG_STATE_HOME", folder.path())
        .env("XDG_DATA_HOME", folder.path());
    let output = command.output().unwrap();
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
    let wanted = value.trim_start_matches("http://");
    (output.status.success() || !said.contains(wanted))
        .then(|| format!("{variable}={value} oasis {line}: {said}"))
}

#[test]
fn each_command_goes_where_the_environment_says() {
    let problems: Vec<String> = thread::scope(|scope| {
        let check = |(variable, value, lines): (&'static str, &'static str, &'static [&str])| {
            scope.spawn(move || {
                lines.iter().filter_map(|line| problem(variable, value, line)).collect::<Vec<_>>()
            })
        };
        let running = CASES.map(check);
        running.into_iter().flat_map(|lines| lines.join().unwrap()).collect()
    });
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn each_command_of_the_documented_table_is_tried() {
    let page = include_str!("../../docs/reference/environment.md");
    let mut untried = Vec::new();
    for line in page.lines().filter_map(|line| line.strip_prefix("| `oasis ")) {
        let (command, cells) = line.split_once("` |").unwrap();
        for (cell, (variable, _, lines)) in cells.split('|').zip(CASES) {
            let is_tried = lines.iter().any(|line| line.split(' ').next() == Some(command));
            if cell.trim() == "yes" && !is_tried && !UNTRIED.contains(&(command, variable)) {
                untried.push(format!("{variable} oasis {command}"));
            }
        }
    }
    assert!(untried.is_empty(), "{untried:?}");
}

/// Commands that do not fail at once: one speaks on standard input, one enrolls over TLS only.
const UNTRIED: [(&str, &str); 2] = [("mcp", "OASIS_URL"), ("node", "OASIS_URL")];

#[test]
fn the_file_of_the_user_is_read_if_none_is_named() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("oasis")).unwrap();
    let file = home.path().join("oasis/oasis.toml");
    fs::write(&file, format!("[archive]\ndirectory = {NO_FOLDER:?}\n")).unwrap();
    let said = |name: &str, value: &str| {
        let mut command = oasis();
        command.env("XDG_CONFIG_HOME", home.path()).env(name, value).args(["archive", "show"]);
        let output = command.stdin(Stdio::null()).output().unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let found = said("LANG", "C");
    assert!(found.starts_with(&format!("configuration: {}\n", file.display())), "{found}");
    assert!(found.contains(NO_FOLDER), "{found}");
    let other = said("OASIS_CONFIG", NO_FILE);
    assert!(other.contains(NO_FILE) && !other.contains("configuration: "), "{other}");
    // An empty name is no file.
    let none = said("OASIS_CONFIG", "");
    assert!(!none.contains(NO_FOLDER), "{none}");
}

#[test]
fn an_answer_names_the_dac_that_nobody_named() {
    let said = |arguments: &[&str]| {
        let output = oasis().args(arguments).stdin(Stdio::null()).output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    let unnamed = said(&["list"]);
    assert!(unnamed.starts_with("dac: http://127.0.0.1:7070\n"), "{unnamed}");
    let named = said(&["list", "--url", NO_DAC]);
    assert!(!named.contains("dac: "), "{named}");
}
