//! The OpenAPI document that a DAC serves, and the reference has, is what the sources say.
//! `OASIS_UPDATE_DOCS=1 cargo test -p oasis-api --test integration document::` updates it.

use std::{env, fs, path::Path};

#[test]
fn the_openapi_document_is_what_the_sources_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/openapi.json");
    let document = oasis_api::openapi().to_pretty_json().unwrap() + "\n";
    if env::var_os("OASIS_UPDATE_DOCS").is_some() {
        fs::write(&path, &document).unwrap();
    }
    let reference = fs::read_to_string(&path).unwrap();
    assert!(
        reference == document,
        "docs/reference/openapi.json is old: OASIS_UPDATE_DOCS=1 cargo test -p oasis-api --test integration document::"
    );
}
