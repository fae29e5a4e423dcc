//! The C++ code for PDL files ([`golden`]) compiles without a warning and does what it should. The compiler is `$CXX`, or else `c++`.

mod cases;

use crate::{
    compiler::{Compiler, Language, in_sdk},
    golden::{check, generated, in_tests},
};
use oasis_pdl::{Disk, Model, compile};
use std::{fs, path::PathBuf};

fn model(pdl: &str) -> Model {
    let report = compile(&[in_tests(pdl)], &[], &Disk);
    assert!(report.is_ok(), "{}", report.render(false));
    report.model
}

fn header(pdl: &str) -> String {
    generated(pdl, oasis_pdl_gen::cpp::generate)
}

fn compiler(name: &str) -> Compiler {
    Compiler::new(language(), name)
}

fn language() -> Language {
    Language { variable: "CXX", program: "c++", standard: "c++17", sdk: "cpp" }
}

fn test(name: &str) -> PathBuf {
    in_sdk("cpp/tests").join(name)
}

const PLANT: &str = "plant/plant.pdl";
const SHAPES: &str = "../../../vectors/shapes.pdl";

#[test]
fn the_code_is_what_is_generated() {
    check(PLANT, oasis_pdl_gen::cpp::generate, "plant/plant.hpp");
    check(SHAPES, oasis_pdl_gen::cpp::generate, "shapes/shapes.hpp");
}

#[test]
fn generated_types_read_and_write_the_vectors() {
    let vectors = fs::read_to_string(in_tests("../../../vectors/shapes.json")).unwrap();
    let cases = cases::include(&model(SHAPES), &serde_json::from_str(&vectors).unwrap());
    let compiler = compiler("shapes");
    compiler.file("shapes.hpp", &header(SHAPES));
    compiler.file("shapes_cases.inc", &cases);
    compiler.run(&test("shapes.cpp"));
}

#[test]
fn an_error_names_its_place() {
    let compiler = compiler("runtime");
    compiler.file("plant.hpp", &header(PLANT));
    compiler.run(&test("runtime.cpp"));
}

#[test]
fn names_that_cpp_uses_itself_compile() {
    let compiler = compiler("names");
    compiler.file("names.hpp", &header("cpp/names.pdl"));
    compiler.file(
        "names.cpp",
        "#include \"names.hpp\"\n#include <oasis/eisa.hpp>\n\ntemplate struct oasis::eisa::Packet<time_>;\n",
    );
    compiler.check(&compiler.path("names.cpp"));
}

#[test]
fn no_header_needs_exceptions_or_types_at_run_time() {
    let c = in_sdk("c/include");
    for standard in ["c++17", "c++20", "c++23"] {
        let compiler = Compiler::new(Language { standard, ..language() }, "bare");
        compiler.file("plant.hpp", &header(PLANT));
        let includes = ["node", "batch", "eisa", "cdr"].map(|name| format!("#include <oasis/{name}.hpp>\n"));
        compiler.file("bare.cpp", &format!("#include \"plant.hpp\"\n{}", includes.concat()));
        let flags = ["-fno-exceptions", "-fno-rtti", "-I", c.to_str().unwrap()];
        compiler.check_with(&flags, &compiler.path("bare.cpp"));
    }
}

#[test]
fn the_example_of_the_documentation_works() {
    let page = fs::read_to_string(in_tests("../../../docs/sdk/cpp.md")).unwrap();
    let compiler = compiler("example");
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
