//! The TypeScript code for PDL files ([`golden`]). What it does is tested in `sdk/typescript/src`.

use crate::golden::check;
use oasis_pdl_gen::typescript::generate;

#[test]
fn enums_structs_and_limits() {
    check("plant/plant.pdl", generate, "plant/plant.ts");
}

#[test]
fn every_shape() {
    check("../../../vectors/shapes.pdl", generate, "shapes/shapes.ts");
}

#[test]
fn names_texts_and_lines_that_need_care() {
    check("typescript/awkward.pdl", generate, "typescript/awkward.ts");
}

#[test]
fn the_example_of_the_documentation() {
    check("python/engine.pdl", generate, "typescript/engine.ts");
}
