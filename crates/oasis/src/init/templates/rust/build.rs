fn main() {
    oasis_pdl_gen::build::rust(&["probes.pdl"]);
}
