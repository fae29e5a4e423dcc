//! The C99 code for devices ([`golden`]) compiles without a warning, as C99 and as C++11, and writes the rows that it should. What it cannot
//! express is refused. The compilers are `$CC` and `$CXX`, or else `cc` and `c++`.

use crate::{
    compiler::{Compiler, Language},
    golden::{check, generated, in_tests},
};
use oasis_pdl::compile;
use oasis_pdl_gen::{
    Language::C99,
    c99::{self, generate},
};
use std::{collections::HashMap, path::PathBuf};

const ERRORS: &str = include_str!("../../../../docs/reference/pdl-errors.md");
const DEVICE: &str = "c99/device.pdl";

const C: Language = Language { variable: "CC", program: "cc", standard: "c99", sdk: "embedded" };
const CPP: Language = Language { variable: "CXX", program: "c++", standard: "c++11", sdk: "embedded" };

#[test]
fn the_code_is_what_is_generated() {
    check(DEVICE, generate, "c99/device.h");
}

#[test]
fn generated_functions_write_rows() {
    let compiler = Compiler::new(C, "rows");
    compiler.file("device.h", &generated(DEVICE, generate));
    compiler.run(&in_tests("c99/rows.c"));
}

#[test]
fn the_header_compiles_as_cpp_too() {
    let compiler = Compiler::new(CPP, "device");
    compiler.file("device.h", &generated(DEVICE, generate));
    compiler.file("main.cc", "#include \"device.h\"\n#include \"device.h\"\n");
    compiler.check(&compiler.path("main.cc"));
}

#[test]
fn long_schemas_compile() {
    let metrics: String = (0..200).map(|number| format!("uint64 metric_{number}; ")).collect();
    let compiler = Compiler::new(C, "long");
    let pdl = format!("[uuid(0c1d4a36-5c2a-4d0b-9b3c-6a4f0e9d2b01)] probe Long {{ {metrics} }};");
    compiler.file("long.pdl", &pdl);
    compiler.file("long.h", &generated(compiler.path("long.pdl").to_str().unwrap(), generate));
    let same = "#include \"long.h\"\nint main(void) { return Long_schema[Long_type.schema_bytes] != 0 || Long_schema[0] != '{'; }\n";
    let stubs = "uint8_t *oasis_begin(oasis_probe *probe) { (void)probe; return NULL; }\nvoid oasis_commit(oasis_probe *probe) { (void)probe; }\n";
    compiler.file("main.c", &format!("{same}{stubs}"));
    compiler.run(&compiler.path("main.c"));
}

#[test]
fn what_has_no_fixed_size_is_refused_at_its_place() {
    let refused = |members: &str, probe: &str| {
        let text = format!(
            "struct Wide {{ {members} }};\n[uuid(0f3c7d52-9c7e-4a57-8a9f-62c1f1b8c7aa)] probe P {{ {probe} }};"
        );
        let files = HashMap::from([(PathBuf::from("p.pdl"), text)]);
        let report = compile(&["p.pdl".into()], &[], &files);
        assert!(report.is_ok(), "{}", report.render(false));
        assert_eq!(C99.check(&report.model), c99::check(&report.model));
        c99::check(&report.model).into_iter().map(|found| found.message).collect::<Vec<_>>()
    };
    assert_eq!(refused("int8 a;", "Wide w;"), Vec::<String>::new());
    let found = refused("string name;", "Wide w; vector<int8> v;");
    assert_eq!(
        found,
        [
            "C99 without a heap cannot express `name`: a string has no fixed size",
            "C99 without a heap cannot express `v`: a vector has no fixed size"
        ]
    );
    let members: String = (0..33).map(|number| format!("int64 m{number}; ")).collect();
    assert!(refused(&members, "Wide w;")[0].contains("takes 264 bytes"));
    let metrics = |count| (0..count).map(|number| format!("int64 m{number}; ")).collect::<String>();
    assert!(refused("int8 a;", &metrics(501))[0].contains("501 metrics"));
    assert!(refused("int8 a;", &metrics(400))[0].contains("takes 3200 bytes"));
    let long = format!("/// {}\nint8 a;", "x".repeat(17_000));
    assert!(refused("int8 a;", &long)[0].contains("its schema takes"));
}

#[test]
fn the_example_of_the_documentation_gives_the_error_that_is_shown() {
    let (_, example) = ERRORS.split_once("```c99-example\n").unwrap();
    let (pdl, after) = example.split_once("```").unwrap();
    let (_, shown) = after.split_once("```text\n").unwrap();
    let (shown, _) = shown.split_once("\n```").unwrap();
    let files = HashMap::from([(PathBuf::from("example.pdl"), pdl.to_owned())]);
    let mut report = compile(&["example.pdl".into()], &[], &files);
    report.diagnostics = c99::check(&report.model);
    assert_eq!(report.render(false), shown);
}
