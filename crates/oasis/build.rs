//! Generates the probe types of a DAC's own node from their PDL files.

fn main() {
    oasis_pdl_gen::build::rust(&oasis_pdl_gen::build::pdl_files("../../pdl/dac"));
}
