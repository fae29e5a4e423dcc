//! Generates the probe type of a line from its PDL file.

fn main() {
    oasis_pdl_gen::build::rust(&oasis_pdl_gen::build::pdl_files("../../pdl/gateway"));
}
