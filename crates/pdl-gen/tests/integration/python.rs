//! The Python code for PDL files ([`golden`]). What it does is tested in `sdk/python/tests`.

use crate::golden::check;
use oasis_pdl_gen::python::generate;

#[test]
fn enums_structs_and_limits() {
    check("plant/plant.pdl", generate, "plant/plant.py");
}

#[test]
fn every_shape() {
    check("../../../vectors/shapes.pdl", generate, "shapes/shapes.py");
}

#[test]
fn names_texts_and_lines_that_need_care() {
    check("python/awkward.pdl", generate, "python/awkward.py");
}

#[test]
fn the_example_of_the_documentation() {
    check("python/engine.pdl", generate, "python/engine.py");
}

#[test]
fn imports_do_not_depend_on_line_breaks() {
    check("python/long.pdl", generate, "python/long.py");
}
