//! Subjects of commits: at most 72 characters, imperative, no full stop.

use std::io::Write as _;
use std::process::{Command, Stdio};

/// Returns what `.ci/commit-subjects` reports of a subject, and nothing if it accepts it.
fn report_of(subject: &str) -> Option<String> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.ci/commit-subjects");
    let mut child = Command::new(script).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    writeln!(child.stdin.take().unwrap(), "{subject}").unwrap();
    let output = child.wait_with_output().unwrap();
    (!output.status.success()).then(|| String::from_utf8(output.stderr).unwrap())
}

#[test]
fn imperative_subjects_are_accepted() {
    let longest = format!("Add {}", "ü".repeat(68));
    for subject in
        ["Evict the newest segment under memory pressure", "Embed the page", "Feed each log", &longest]
    {
        assert_eq!(report_of(subject), None, "{subject}");
    }
}

#[test]
fn each_broken_rule_is_reported() {
    let long = format!("Add {}", "x".repeat(69));
    for (subject, reason) in [
        (long.as_str(), "longer than 72 characters"),
        ("Add a door.", "ends with a full stop"),
        ("add a door", "starts with a lower-case letter"),
        ("Added a door", "not imperative"),
        ("Adding a door", "not imperative"),
        ("Let doors close", "names no change of the code"),
    ] {
        assert!(report_of(subject).is_some_and(|report| report.contains(reason)), "{subject}");
    }
}
