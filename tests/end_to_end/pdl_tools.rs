//! `oasis pdl fmt`: files laid out in place, and what CI and editors get.

use crate::harness::oasis;
use std::{
    fs,
    io::Write,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
    process::{Output, Stdio},
};

const UNTIDY: &str = "struct Tank{real64 level;};";
const TIDY: &str = "struct Tank {\n  real64 level;\n};\n";
const WRONG: &str = "struct Tank{real64 level};";

/// Runs in a folder, so that what it prints has no temporary names in it.
fn pdl(folder: &Path, arguments: &[&str], input: &str) -> (i32, String, String) {
    let mut command = oasis();
    command.current_dir(folder).arg("pdl").args(arguments);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn read(folder: &tempfile::TempDir, name: &str) -> String {
    fs::read_to_string(folder.path().join(name)).unwrap()
}

#[test]
fn fmt_lays_files_out_in_place_and_names_them() {
    let folder = folder(&[("a.pdl", UNTIDY), ("b.pdl", TIDY)]);
    let mode =
        |mode| fs::set_permissions(folder.path().join("a.pdl"), fs::Permissions::from_mode(mode)).unwrap();
    mode(0o666);
    symlink("a.pdl", folder.path().join("link.pdl")).unwrap();
    let before = fs::metadata(folder.path().join("b.pdl")).unwrap().modified().unwrap();
    assert_eq!(
        pdl(folder.path(), &["fmt", "link.pdl", "b.pdl"], ""),
        (0, "link.pdl\n".into(), String::new())
    );
    assert_eq!((read(&folder, "a.pdl").as_str(), read(&folder, "b.pdl").as_str()), (TIDY, TIDY));
    assert_eq!(fs::metadata(folder.path().join("b.pdl")).unwrap().modified().unwrap(), before);
    assert_eq!(fs::metadata(folder.path().join("a.pdl")).unwrap().permissions().mode() & 0o777, 0o666);
    assert!(fs::symlink_metadata(folder.path().join("link.pdl")).unwrap().is_symlink());
    assert_eq!(pdl(folder.path(), &["fmt", "link.pdl", "b.pdl"], ""), (0, String::new(), String::new()));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
}

#[test]
fn fmt_check_shows_what_would_change_and_changes_nothing() {
    let folder = folder(&[("a.pdl", UNTIDY), ("b.pdl", TIDY)]);
    let (status, out, _) = pdl(folder.path(), &["fmt", "--check", "a.pdl", "b.pdl"], "");
    assert_eq!(status, 1);
    let shown =
        "--- a.pdl\n+++ a.pdl\n@@ -1 +1,3 @@\n-struct Tank{real64 level;};\n\\ No newline at end of file\n";
    assert_eq!(out, format!("{shown}+struct Tank {{\n+  real64 level;\n+}};\n"));
    assert_eq!(read(&folder, "a.pdl"), UNTIDY);
    assert_eq!(pdl(folder.path(), &["fmt", "--check", "b.pdl"], ""), (0, String::new(), String::new()));
}

#[test]
fn fmt_leaves_a_wrong_file_alone_and_goes_on_with_the_others() {
    let folder = folder(&[("wrong.pdl", WRONG), ("a.pdl", UNTIDY)]);
    let (status, out, told) = pdl(folder.path(), &["fmt", "wrong.pdl", "nowhere.pdl", "a.pdl"], "");
    assert_eq!((status, out.as_str()), (1, "a.pdl\n"));
    assert!(
        told.contains("wrong.pdl:1:24") && told.contains("E0001") && told.contains("nowhere.pdl"),
        "{told}"
    );
    assert_eq!((read(&folder, "wrong.pdl").as_str(), read(&folder, "a.pdl").as_str()), (WRONG, TIDY));
}

#[test]
fn fmt_passes_standard_input_on() {
    let folder = folder(&[]);
    assert_eq!(pdl(folder.path(), &["fmt", "-"], UNTIDY), (0, TIDY.into(), String::new()));
    assert_eq!(pdl(folder.path(), &["fmt", "--check", "-"], TIDY), (0, String::new(), String::new()));
    let (status, out, _) = pdl(folder.path(), &["fmt", "--check", "-"], UNTIDY);
    assert!(status == 1 && out.starts_with("--- <stdin>\n"), "{out}");
    let (status, out, told) = pdl(folder.path(), &["fmt", "-"], WRONG);
    assert!(status == 1 && out.is_empty() && told.contains("<stdin>:1:24"), "{out}{told}");
    assert_eq!(pdl(folder.path(), &["fmt", "-", "a.pdl"], UNTIDY).0, 1);
}
