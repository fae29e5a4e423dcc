//! Generates the log, span and heartbeat types from their PDL files.

fn main() {
    oasis_pdl_gen::build::rust(&oasis_pdl_gen::build::pdl_files("pdl"));
}
