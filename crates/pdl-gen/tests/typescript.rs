//! The TypeScript code for a PDL file is the one kept beside its tests, to the letter. What it does is tested in `sdk/typescript`, and
//! `npm run lint` has nothing to say to it.
//!
//! To make it anew: `OASIS_UPDATE_GENERATED=1 cargo test -p oasis-pdl-gen --test typescript`.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

use oasis_pdl::{Disk, compile};
use std::{
    env, fs,
    path::{Path, PathBuf},
};

fn in_tests(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

fn check(pdl: &str, code: &str) {
    let report = compile(&[in_tests(pdl)], &[], &Disk);
    assert!(report.is_ok(), "{}", report.render(false));
    let from = Path::new(pdl).file_name().unwrap().to_string_lossy();
    let made = oasis_pdl_gen::typescript::generate(&report.model, &from);
    let path = in_tests(code);
    if env::var_os("OASIS_UPDATE_GENERATED").is_some() {
        fs::write(&path, &made).unwrap();
    }
    assert_eq!(made, fs::read_to_string(&path).unwrap());
}

#[test]
fn enums_structs_and_limits() {
    check("plant/plant.pdl", "plant/plant.ts");
}

#[test]
fn every_shape() {
    check("../../../vectors/shapes.pdl", "shapes/shapes.ts");
}

#[test]
fn names_texts_and_lines_that_need_care() {
    check("typescript/awkward.pdl", "typescript/awkward.ts");
}

#[test]
fn the_example_of_the_documentation() {
    check("python/engine.pdl", "typescript/engine.ts");
}
