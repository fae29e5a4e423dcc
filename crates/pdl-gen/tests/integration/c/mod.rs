//! The C code for PDL files ([`golden`]) compiles without a warning and does what it should. The compiler is `$CC`, or else `cc`.

mod cases;

use crate::{
    compiler::{Compiler, Language, in_sdk},
    golden::{check, generated, in_tests},
};
use oasis_pdl::{Disk, compile};
use oasis_pdl_gen::c::generate;
use std::fs;

const SHAPES: &str = "../../../vectors/shapes.pdl";

fn compiler(name: &str) -> Compiler {
    Compiler::new(Language { variable: "CC", program: "cc", standard: "c11", sdk: "c" }, name)
}

#[test]
fn the_code_is_what_is_generated() {
    check("plant/plant.pdl", generate, "plant/plant.h");
    check(SHAPES, generate, "shapes/shapes.h");
}

#[test]
fn generated_types_write_the_rows_of_the_vectors() {
    let report = compile(&[in_tests(SHAPES)], &[], &Disk);
    let vectors = fs::read_to_string(in_tests("../../../vectors/shapes.json")).unwrap();
    let cases = cases::include(&report.model, &serde_json::from_str(&vectors).unwrap());
    let compiler = compiler("shapes");
    compiler.file("shapes.h", &generated(SHAPES, generate));
    compiler.file("shapes_cases.inc", &cases);
    compiler.run(&in_sdk("c/tests/shapes.c"));
}

#[test]
fn names_that_c_uses_itself_and_long_schemas_compile() {
    let compiler = compiler("names");
    compiler.file("names.h", &generated("cpp/names.pdl", generate));
    let metrics: String = (0..200).map(|number| format!("uint64 metric_{number}; ")).collect();
    // A type that would be called like another's vector or function.
    let pdl = format!(
        "module A {{ enum M {{ X, put }}; struct M_vector {{ M m; }}; struct S {{ vector<M> m; }}; struct S_put {{ S s; M_vector v; }};\n\
         [uuid(0c1d4a36-5c2a-4d0b-9b3c-6a4f0e9d2b01)] probe Long {{ vector<vector<S_put>> s; {metrics} }}; }}"
    );
    compiler.file("long.pdl", &pdl);
    compiler.file("long.h", &generated(compiler.path("long.pdl").to_str().unwrap(), generate));
    compiler.file("names.c", "#include \"names.h\"\n#include \"long.h\"\n#include \"long.h\"\n");
    compiler.check(&compiler.path("names.c"));
}

#[test]
fn the_example_of_the_documentation_compiles() {
    let page = fs::read_to_string(in_tests("../../../docs/sdk/c.md")).unwrap();
    let compiler = compiler("example");
    compiler.file("engine.pdl", block(&page, "```pdl\n"));
    compiler.file("engine.h", &generated(compiler.path("engine.pdl").to_str().unwrap(), generate));
    compiler.file("example.c", block(&page, "```c\n#include \"engine.h\"\n"));
    compiler.file("main.c", "#include \"engine.h\"\n#include \"example.c\"\n");
    compiler.check(&compiler.path("main.c"));
}

/// Returns the first block of a page that begins like this.
fn block<'a>(page: &'a str, begin: &str) -> &'a str {
    let (_, block) = page.split_once(begin).unwrap();
    block.split("```").next().unwrap()
}
