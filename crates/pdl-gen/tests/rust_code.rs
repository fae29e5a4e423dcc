//! The Rust code for PDL files ([`golden`]).

#![allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

#[allow(dead_code, reason = "other tests use more of it")]
mod golden;

use golden::check;
use oasis_pdl_gen::rust::generate;

#[test]
fn the_code_is_what_is_generated() {
    check("plant/plant.pdl", generate, "plant/plant.rs");
    check("../../../vectors/shapes.pdl", generate, "shapes/shapes.rs");
}
