//! `cargo build` and `cargo test` without a selection leave out what only measures.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

use oasis_structure::Workspace;

#[test]
fn the_default_members_are_all_crates_but_the_lab() {
    let workspace = Workspace::load().unwrap();
    let left_out: Vec<&str> = workspace
        .packages
        .iter()
        .filter(|package| !workspace.is_default(package))
        .map(|package| package.name.as_str())
        .collect();
    assert_eq!(left_out, ["oasis-lab"], "default-members of the top Cargo.toml");
}
