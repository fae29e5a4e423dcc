//! The Rust code for PDL files ([`golden`]).

use crate::golden::check;
use oasis_pdl_gen::rust::generate;

#[test]
fn the_code_is_what_is_generated() {
    check("plant/plant.pdl", generate, "plant/plant.rs");
    check("../../../vectors/shapes.pdl", generate, "shapes/shapes.rs");
}
