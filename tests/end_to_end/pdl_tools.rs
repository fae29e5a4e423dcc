//! `oasis pdl fmt` and `oasis pdl diff` for people, CI and editors.

use crate::harness::oasis;
use serde_json::Value;
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

/// Runs in a folder, so that its output contains no temporary names.
fn pdl(folder: &Path, arguments: &[&str], input: &str) -> (i32, String, String) {
    let mut command = oasis();
    command.current_dir(folder).arg("pdl").args(arguments);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A process that refuses its arguments may end before it reads.
    let _maybe_gone = child.stdin.take().unwrap().write_all(input.as_bytes());
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
fn fmt_leaves_an_invalid_file_alone_and_continues_with_the_others() {
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

const ENGINE: &str = "[uuid(0f3c7d52-9c7e-4a57-8a9f-62c1f1b8c7aa); version(1.0)]
probe Engine {
  real64 rpm;
  [unit(\"Cel\")] real32 temperature;
};
";

/// Compares the engine with a copy in which a word is replaced.
fn diff(word: &str, by: &str, arguments: &[&str]) -> (i32, String, String) {
    let folder = folder(&[("old.pdl", ENGINE), ("new.pdl", &ENGINE.replace(word, by))]);
    pdl(folder.path(), &[&["diff", "old.pdl", "new.pdl"], arguments].concat(), "")
}

#[test]
fn diff_reports_the_effect_of_a_change_on_readers() {
    let [breaks, needs, covered, safe] =
        ["Breaks readers:", "Needs a higher version:", "Covered by a higher version:", "Safe:"];
    for (word, by, status, title, line) in [
        (
            "real64",
            "real32",
            4,
            breaks,
            "new.pdl:3: Engine: type of metric `rpm` changed from `real64` to `real32` (was old.pdl:3)",
        ),
        ("  real64 rpm;\n", "", 4, breaks, "old.pdl:3: Engine: metric `rpm` removed"),
        (
            "Cel",
            "K",
            3,
            needs,
            "new.pdl:4: Engine: unit of metric `temperature` changed from \"Cel\" to \"K\" (was old.pdl:4)",
        ),
        ("1.0", "1.1", 0, covered, "new.pdl:2: Engine: version raised from 1.0 to 1.1 (was old.pdl:2)"),
        (
            "  real64",
            "\n  [label(\"Speed\")] real64",
            0,
            safe,
            "new.pdl:4: Engine: label of metric `rpm` added: \"Speed\" (was old.pdl:3)",
        ),
    ] {
        let wanted = (status, format!("{title}\n  {line}\n\n1 change\n"), String::new());
        assert_eq!(diff(word, by, &[]), wanted);
    }
    assert_eq!(diff("rpm", "rpm", &[]), (0, "0 changes\n".into(), String::new()));
    let (status, out, _) =
        diff("1.0)]\nprobe Engine {", "1.1)]\nprobe Engine { [label(\"On\")] boolean on;", &[]);
    assert!(status == 0 && out.ends_with("metric `on` added\n\n2 changes\n"), "{out}");
}

#[test]
fn diff_prints_an_object_a_line_for_programs() {
    let (status, out, _) = diff("real64 rpm", "string rpm, name", &["--message-format", "json"]);
    assert_eq!(status, 4);
    let changes: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(changes.len(), 2, "{out}");
    let [retyped, added] = [&changes[0], &changes[1]];
    assert_eq!((&retyped["class"], &retyped["change"]), (&"breaking".into(), &"type_changed".into()));
    assert_eq!((&retyped["probe"], &retyped["old"]["line"]), (&"Engine".into(), &3.into()));
    assert_eq!((&added["change"], &added["old"]), (&"metric_added".into(), &Value::Null));
    assert_eq!((&added["new"]["file"], &added["new"]["column"]), (&"new.pdl".into(), &15.into()));
    assert_eq!(diff("rpm", "rpm", &["--message-format", "json"]), (0, String::new(), String::new()));
}

#[test]
fn diff_does_not_compare_invalid_files() {
    let (status, out, told) = diff("real64", "reel64", &[]);
    assert!(status == 1 && out.is_empty() && told.contains("new.pdl:3:3"), "{out}{told}");
    let folder = folder(&[("new.pdl", ENGINE)]);
    let (status, _, told) = pdl(folder.path(), &["diff", "old.pdl", "new.pdl"], "");
    assert!(status == 1 && told.contains("cannot read old.pdl"), "{told}");
    assert_eq!(pdl(folder.path(), &["diff", "new.pdl"], "").0, 2);
}

#[test]
fn diff_finds_the_includes_of_both_files() {
    let including = format!("#include \"base.pdl\"\n{}", ENGINE.replace("Engine", "Engine : Base"));
    let folder = folder(&[("old.pdl", &including), ("new.pdl", &including)]);
    fs::create_dir(folder.path().join("include")).unwrap();
    fs::write(folder.path().join("include/base.pdl"), "abstract probe Base { };").unwrap();
    assert_eq!(pdl(folder.path(), &["diff", "old.pdl", "new.pdl"], "").0, 1);
    let arguments = ["diff", "-I", "include", "old.pdl", "new.pdl"];
    assert_eq!(pdl(folder.path(), &arguments, ""), (0, "0 changes\n".into(), String::new()));
}

#[test]
fn each_tool_shows_examples() {
    for verb in ["fmt", "diff"] {
        let (status, help, _) = pdl(Path::new("."), &[verb, "--help"], "");
        assert!(status == 0 && help.contains("Examples:"), "{help}");
        assert!(help.contains(&format!("\n  oasis pdl {verb} ")), "{help}");
    }
}
