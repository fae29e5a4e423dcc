//! The types of the standard probes come from their PDL files.

fn main() {
    oasis_pdl_gen::build::rust(&[
        "../../pdl/processor.pdl",
        "../../pdl/cpu.pdl",
        "../../pdl/memory.pdl",
        "../../pdl/network.pdl",
        "../../pdl/disk.pdl",
        "../../pdl/process.pdl",
        "../../pdl/scheduling.pdl",
        "../../pdl/sensors.pdl",
        "../../pdl/windsonic.pdl",
        "../../pdl/heartbeat.pdl",
        "../../pdl/log.pdl",
        "../../pdl/span.pdl",
    ]);
}
