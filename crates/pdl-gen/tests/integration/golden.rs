//! Generated code is equal to the file kept beside the tests, to the letter.
//!
//! To make all of them anew: `OASIS_UPDATE_GENERATED=1 cargo test -p oasis-pdl-gen`.

use oasis_pdl::{Disk, Model, compile};
use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// A file beside the tests.
pub fn in_tests(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

/// Returns the code generated for a PDL file beside the tests.
pub fn generated(pdl: &str, generate: fn(&Model, &str) -> String) -> String {
    let report = compile(&[in_tests(pdl)], &[], &Disk);
    assert!(report.is_ok(), "{}", report.render(false));
    let from = Path::new(pdl).file_name().unwrap().to_string_lossy();
    generate(&report.model, &from)
}

/// Checks it against a file beside the tests.
pub fn check(pdl: &str, generate: fn(&Model, &str) -> String, code: &str) {
    let (made, path) = (generated(pdl, generate), in_tests(code));
    if env::var_os("OASIS_UPDATE_GENERATED").is_some() {
        fs::write(&path, &made).unwrap();
    }
    assert_eq!(made, fs::read_to_string(&path).unwrap(), "{code}");
}
