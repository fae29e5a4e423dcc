//! The C++ code for a PDL file is the one kept beside its tests, to the letter, compiles without a warning and does what it should.
//!
//! To make it anew: `OASIS_UPDATE_GENERATED=1 cargo test -p oasis-pdl-gen --test cpp`. The compiler is `$CXX`, or else `c++`.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

mod cases;
mod compiler;

use compiler::Compiler;
use oasis_pdl::{Disk, Model, compile};
use std::{
    env, fs,
    path::{Path, PathBuf},
};

fn in_tests(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

fn model(pdl: &str) -> Model {
    let report = compile(&[in_tests(pdl)], &[], &Disk);
    assert!(report.is_ok(), "{}", report.render(false));
    report.model
}

fn header(pdl: &str) -> String {
    let from = Path::new(pdl).file_name().unwrap().to_string_lossy();
    oasis_pdl_gen::cpp::generate(&model(pdl), &from)
}

fn check(pdl: &str, code: &str) {
    let made = header(pdl);
    let path = in_tests(code);
    if env::var_os("OASIS_UPDATE_GENERATED").is_some() {
        fs::write(&path, &made).unwrap();
    }
    assert_eq!(made, fs::read_to_string(&path).unwrap(), "{code}");
}

const PLANT: &str = "plant/plant.pdl";
const SHAPES: &str = "../../../vectors/shapes.pdl";

#[test]
fn the_code_is_what_is_generated() {
    check(PLANT, "plant/plant.hpp");
    check(SHAPES, "shapes/shapes.hpp");
}

#[test]
fn generated_types_read_and_write_the_vectors() {
    let vectors = fs::read_to_string(in_tests("../../../vectors/shapes.json")).unwrap();
    let cases = cases::include(&model(SHAPES), &serde_json::from_str(&vectors).unwrap());
    let compiler = Compiler::new("shapes");
    compiler.file("shapes.hpp", &header(SHAPES));
    compiler.file("shapes_cases.inc", &cases);
    compiler.run(&compiler::test("shapes.cpp"));
}

#[test]
fn what_is_wrong_is_refused_at_its_place() {
    let compiler = Compiler::new("runtime");
    compiler.file("plant.hpp", &header(PLANT));
    compiler.run(&compiler::test("runtime.cpp"));
}

#[test]
fn names_that_cpp_uses_itself_compile() {
    let compiler = Compiler::new("names");
    compiler.file("names.hpp", &header("cpp/names.pdl"));
    compiler.file(
        "names.cpp",
        "#include \"names.hpp\"\n#include <oasis/eisa.hpp>\n\ntemplate struct oasis::eisa::Packet<time_>;\n",
    );
    compiler.check(&compiler.path("names.cpp"));
}

#[test]
fn the_example_of_the_documentation_works() {
    let page = fs::read_to_string(in_tests("../../../docs/sdk/cpp.md")).unwrap();
    let compiler = Compiler::new("example");
    compiler.file("engine.pdl", block(&page, "pdl"));
    compiler.file("engine.hpp", &header(compiler.path("engine.pdl").to_str().unwrap()));
    compiler.file("example.cpp", block(&page, "cpp"));
    compiler.run(&compiler.path("example.cpp"));
}

/// The first block of a page in this language.
fn block<'a>(page: &'a str, language: &str) -> &'a str {
    let (_, block) = page.split_once(&format!("```{language}\n")).unwrap();
    block.split("```").next().unwrap()
}
