//! Tests of the public codecs: the files in `vectors/`, and properties of any schema and any bytes.
//!
//! The vectors are made by our encoders, reviewed, read by every language's tests. These tests fail when the encoders no
//! longer make the same bytes; `OASIS_UPDATE_VECTORS=1` writes the files anew.

mod blobs;
mod cases;
mod eisa;
mod exact;
mod native_batch;
mod properties;
mod row;

use std::{fs, path::PathBuf};

fn check_file(name: &str, content: &serde_json::Value) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../vectors").join(name);
    let made = serde_json::to_string_pretty(content).unwrap() + "\n";
    if std::env::var_os("OASIS_UPDATE_VECTORS").is_some() {
        fs::write(&path, &made).unwrap();
    }
    assert!(
        fs::read_to_string(&path).unwrap_or_default() == made,
        "vectors/{name} differs from what the encoder makes: OASIS_UPDATE_VECTORS=1, and review the change"
    );
}
