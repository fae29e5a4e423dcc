//! The Rust code for `plant.pdl` is `plant.rs` to the letter.
//!
//! To make it anew: `OASIS_UPDATE_GENERATED=1 cargo test -p oasis-pdl-gen --test rust_code`.

use oasis_pdl::{Disk, compile};
use std::{env, fs, path::PathBuf};

fn in_tests(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

#[test]
fn the_code_is_what_is_generated() {
    let report = compile(&[in_tests("plant/plant.pdl")], &[], &Disk);
    assert!(report.is_ok(), "{}", report.render(false));
    let code = oasis_pdl_gen::rust::generate(&report.model, "plant.pdl");
    let path = in_tests("plant/plant.rs");
    if env::var_os("OASIS_UPDATE_GENERATED").is_some() {
        fs::write(&path, &code).unwrap();
    }
    assert_eq!(code, fs::read_to_string(&path).unwrap());
}
