//! Compiles the PDL file to Rust.

fn main() {
    oasis_pdl_gen::build::rust(&["camera.pdl"]);
}
