//! `oasis lab` becomes the program beside it; lab/tests has the tests of that program.

use crate::harness::program;
use std::{fs, os::unix::fs::PermissionsExt, path::Path};

/// A copy of the binary in a folder of its own.
fn alone(folder: &Path) -> std::process::Command {
    let binary = folder.join("oasis");
    fs::copy(env!("CARGO_BIN_EXE_oasis"), &binary).expect("the binary can be copied");
    program(&binary)
}

#[test]
fn without_the_lab_the_error_says_how_to_build_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = alone(folder.path()).args(["lab", "list"]).output().expect("the binary runs");
    let text = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(!output.status.success());
    assert!(text.contains("oasis-lab beside oasis") && text.contains("make lab"), "{text}");
}

#[test]
fn arguments_and_exit_status_are_those_of_the_lab() {
    let folder = tempfile::tempdir().expect("a folder");
    let lab = folder.path().join("oasis-lab");
    fs::write(&lab, "#!/bin/sh\necho \"$@\"\nexit 7\n").expect("a script");
    fs::set_permissions(&lab, fs::Permissions::from_mode(0o755)).expect("an executable");
    let arguments = ["lab", "run", "frizelle", "--quick", "--set", "SERVER=oasis", "--help"];
    let output = alone(folder.path()).args(arguments).output().expect("the binary runs");
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    let passed = String::from_utf8(output.stdout).expect("UTF-8");
    assert_eq!(passed, "run frizelle --quick --set SERVER=oasis --help\n");
}
