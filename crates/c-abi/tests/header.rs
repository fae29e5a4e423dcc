//! `sdk/c/include/oasis.h` matches this crate.
//!
//! To regenerate it: `OASIS_UPDATE_GENERATED=1 cargo test -p oasis-c-abi --test header`.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

use std::{env, fs, path::Path};

#[test]
fn the_header_is_what_is_generated() {
    let crate_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    let header = cbindgen::generate(crate_dir).unwrap();
    let mut made = Vec::new();
    header.write(&mut made);
    let made = String::from_utf8(made).unwrap();
    let path = crate_dir.join("../../sdk/c/include/oasis.h");
    if env::var_os("OASIS_UPDATE_GENERATED").is_some() {
        fs::write(&path, &made).unwrap();
    }
    assert_eq!(made, fs::read_to_string(&path).unwrap());
}
