//! Generates the probe types of a DAC's own node and of the demo from their PDL files.

use oasis_pdl_gen::build::{pdl_files, rust};

fn main() {
    let folders = ["../../pdl/dac", "../../pdl/demo"];
    let files: Vec<_> = folders.into_iter().flat_map(pdl_files).collect();
    rust(&files);
}
