//! `cargo build` and `cargo test` compile each crate once for both.

use std::fs;
use std::path::Path;

use oasis_structure::Workspace;

/// Returns whether a manifest is that of a procedural macro.
fn is_macro(manifest: &Path) -> bool {
    fs::read_to_string(manifest).unwrap().lines().any(|line| line == "proc-macro = true")
}

#[test]
fn procedural_macros_have_no_debug_information_as_libraries_as_they_have_none_as_dependencies() {
    let workspace = Workspace::load().unwrap();
    let settings = fs::read_to_string(workspace.root.join("Cargo.toml")).unwrap();
    let macros = workspace
        .packages
        .iter()
        .filter(|package| is_macro(&workspace.root.join(workspace.folder(package)).join("Cargo.toml")));
    let names: Vec<_> = macros.map(|package| &package.name).collect();
    assert!(names.len() > 1, "{names:?}");
    for name in names {
        let profile = format!("[profile.dev.package.{name}]\ndebug = false\n");
        assert!(settings.contains(&profile), "Cargo.toml lacks this profile:\n{profile}");
    }
}
