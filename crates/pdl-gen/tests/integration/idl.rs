//! The IDL for PDL files ([`golden`]). Debian's `idlc` (package cyclonedds-tools), if it is installed, compiles every file, and C compiles what it makes.

use crate::golden::{check, in_tests};
use oasis_pdl::{Disk, Report, compile};
use oasis_pdl_gen::idl;
use std::{
    collections::HashMap,
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

const SHAPES: &str = "../../../vectors/shapes.pdl";
const ERRORS: &str = include_str!("../../../../docs/reference/pdl-errors.md");

/// Whether Debian's `idlc` is there. `make cyclonedds` installs it.
fn has_idlc() -> bool {
    let found = Command::new("idlc").arg("-v").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    if !found {
        eprintln!("skipped: idlc is not installed (make cyclonedds)");
    }
    found
}

/// A folder of this test alone.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("idl").join(name);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Compiles IDL to C, and that to nothing.
fn compile_idl(name: &str, text: &str) {
    let folder = folder(name);
    fs::write(folder.join("types.idl"), text).unwrap();
    let made = Command::new("idlc").args(["-l", "c", "types.idl"]).current_dir(&folder).output().unwrap();
    let output = String::from_utf8_lossy(&made.stderr) + String::from_utf8_lossy(&made.stdout);
    assert!(made.status.success() && !output.contains("rror"), "{name}: {output}\n{text}");
    if !folder.join("types.c").exists() {
        return;
    }
    let compiler = env::var("CC").unwrap_or_else(|_| "cc".into());
    let compiled = Command::new(compiler)
        .args(["-std=c11", "-fsyntax-only", "types.c"])
        .current_dir(&folder)
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{name}: {}\n{text}", String::from_utf8_lossy(&compiled.stderr));
}

fn compiled(pdl: &str) -> Report {
    let files = HashMap::from([(PathBuf::from("example.pdl"), pdl.to_owned())]);
    let mut report = compile(&["example.pdl".into()], &[], &files);
    assert!(report.is_ok(), "{}", report.render(false));
    report.diagnostics = idl::check(&report.model);
    report
}

#[test]
fn the_idl_is_what_is_generated() {
    check("plant/plant.pdl", idl::generate, "plant/plant.idl");
    check(SHAPES, idl::generate, "shapes/shapes.idl");
    if has_idlc() {
        compile_idl("plant", &fs::read_to_string(in_tests("plant/plant.idl")).unwrap());
        compile_idl("shapes", &fs::read_to_string(in_tests("shapes/shapes.idl")).unwrap());
    }
}

/// Every file of the language's corpus, the ready-made probes, and files with awkward names.
#[test]
fn each_file_of_the_corpus_is_idl_or_says_why_not() {
    let has_idlc = has_idlc();
    let (mut expressed, mut refused) = (0, Vec::new());
    for folder in ["../../pdl/tests/corpus/good", "../../../pdl", "cpp", "python", "typescript"] {
        for entry in fs::read_dir(in_tests(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|ending| ending != "pdl") {
                continue;
            }
            let report = compile(std::slice::from_ref(&path), &[], &Disk);
            assert!(report.is_ok(), "{}: {}", path.display(), report.render(false));
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            if !idl::check(&report.model).is_empty() {
                refused.push(name);
                continue;
            }
            expressed += 1;
            if has_idlc {
                compile_idl(&name, &idl::generate(&report.model, &name));
            }
        }
    }
    refused.sort_unstable();
    assert!(expressed > 40, "{expressed}");
    assert_eq!(refused, REFUSED);
}

/// Cases that IDL cannot express.
const REFUSED: [&str; 5] = ["awkward", "awkward", "keywords-as-names", "lookup-goes-outwards", "names"];

#[test]
fn what_idl_cannot_express_is_explained() {
    for (pdl, message) in [
        (
            "module Plant { struct Plant { int8 x; }; }",
            "IDL cannot express `Plant::Plant`: it has the name of its module",
        ),
        ("struct time { int8 x; };", "C made from IDL cannot express `time`"),
        (
            "struct Nothing {}; abstract probe P { int8 x; }; struct S { Nothing n; };",
            "IDL cannot express `n`: its struct has no members",
        ),
        (
            "module A { struct S { int8 x; }; } module a { struct T { int8 x; }; }",
            "IDL cannot express `a` beside `A`",
        ),
        (
            "struct PSample { int8 x; }; [uuid(0f3c7d52-9c7e-4a57-8a9f-62c1f1b8c7aa)] probe P { int8 x; };",
            "IDL cannot express `PSample` beside `PSample`",
        ),
    ] {
        let report = compiled(pdl);
        let messages: Vec<_> = report.diagnostics.iter().map(|found| found.message.as_str()).collect();
        assert!(messages.len() == 1 && messages[0].starts_with(message), "{pdl}: {messages:?}");
    }
}

#[test]
fn the_example_of_the_documentation_gives_the_error_that_is_shown() {
    let (_, example) = ERRORS.split_once("```idl-example\n").unwrap();
    let (pdl, after) = example.split_once("```").unwrap();
    let (_, shown) = after.split_once("```text\n").unwrap();
    let (shown, _) = shown.split_once("\n```").unwrap();
    assert_eq!(compiled(pdl).render(false), shown);
}

#[test]
fn numbers_that_no_idl_enum_has_become_constants() {
    let report =
        compiled("module M { enum Trend : int16 { DOWN = -300, UP = 300 }; struct S { vector<Trend> t; }; }");
    let idl = idl::generate(&report.model, "trend.pdl");
    assert!(idl.contains("typedef int16 Trend;\nconst int16 Trend_DOWN = -300;"), "{idl}");
    assert!(idl.contains("sequence<::M::Trend> t;"), "{idl}");
    if has_idlc() {
        compile_idl("trend", &idl);
    }
}
