//! Compiles the probes of experiments to Rust.

fn main() {
    oasis_pdl_gen::build::rust(&["lab.pdl"]);
}
