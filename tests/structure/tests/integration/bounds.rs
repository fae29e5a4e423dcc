//! The page of bounds lists the constants of the sources; `OASIS_UPDATE_BOUNDS=1` writes it.

use std::{fs, path::Path};

#[test]
fn the_page_of_bounds_is_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (file, text) = (root.join("docs/reference/bounds.md"), oasis_structure::bounds_page(&root).unwrap());
    if std::env::var_os("OASIS_UPDATE_BOUNDS").is_some() {
        fs::write(&file, &text).unwrap();
    }
    let found = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        found == text,
        "docs/reference/bounds.md differs from the sources: \
         OASIS_UPDATE_BOUNDS=1 cargo test -p oasis-structure --test integration bounds::"
    );
}
