//! Generates the probe types, and the list of ready-made probes, from the files in `pdl/`.

use oasis_pdl_gen::build;
use std::path::PathBuf;

fn main() {
    let files = build::pdl_files("pdl");
    build::rust(&files);
    build::write("ready_made.rs", &ready_made(&files));
}

/// Lists `crate::NAME::READY_MADE` for each `NAME.pdl`: a probe without a module does not compile.
fn ready_made(files: &[PathBuf]) -> String {
    let stems = files.iter().filter_map(|file| file.file_stem());
    let probes: Vec<_> = stems.map(|stem| format!("crate::{}::READY_MADE", stem.to_string_lossy())).collect();
    format!(
        "/// Every ready-made probe.\npub const PROBES: &[ReadyMadeProbe] = &[{}, oasis_ei_node::HEARTBEAT];\n",
        probes.join(", ")
    )
}
