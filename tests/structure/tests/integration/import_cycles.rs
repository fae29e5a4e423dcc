//! No files of a crate import each other in a large cycle: then none could be read, tested or moved without the others.

use std::fmt::Write as _;
use std::path::Path;

use oasis_structure::{Imports, Workspace};

/// Files that may import each other in a cycle.
const MAX_CYCLE: usize = 3;

#[test]
fn no_import_cycle_has_more_than_three_files() {
    let (workspace, lab) = (Workspace::load().unwrap(), Workspace::load_lab().unwrap());
    let mut report = String::new();
    for target in workspace.packages.iter().chain(&lab.packages).flat_map(|package| &package.targets) {
        let root = &target.src_path;
        let imports = Imports::load(root).unwrap();
        let name = |path: &Path| path.strip_prefix(&workspace.root).unwrap_or(path).display().to_string();
        for cycle in imports.cycles().into_iter().filter(|cycle| cycle.len() > MAX_CYCLE) {
            writeln!(report, "{}: {} files", name(root), cycle.len()).unwrap();
            for (from, to) in imports.among(&cycle) {
                writeln!(report, "    {} uses {}", name(from), name(to)).unwrap();
            }
        }
    }
    assert!(report.is_empty(), "these files import each other in a cycle:\n{report}");
}

/// Writes a crate's files into a folder that ends with the test, and returns the names of the files of each cycle.
fn cycles_of(files: &[(&str, &str)]) -> Vec<Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let imports = Imports::load(&folder.path().join("lib.rs")).unwrap();
    let name = |path: &&Path| path.strip_prefix(folder.path()).unwrap().display().to_string();
    imports.cycles().iter().map(|cycle| cycle.iter().map(name).collect()).collect()
}

#[test]
fn a_cycle_is_found_through_re_exports_aliases_and_macros() {
    let found = cycles_of(&[
        ("lib.rs", "mod a; mod b; mod c; pub use b::Store;"),
        ("a.rs", "use crate::Store; pub struct A(Store);"),
        ("b.rs", "use super::c as other; pub struct Store; fn f() { other::run(); }"),
        ("c.rs", "pub fn run() { println!(\"{}\", crate::a::NAME); }"),
    ]);
    assert_eq!(found, [["a.rs", "b.rs", "c.rs"]]);
}

#[test]
fn a_parent_and_its_children_alone_are_no_cycle() {
    let found = cycles_of(&[
        ("lib.rs", "mod store; pub struct Limit;"),
        ("store/mod.rs", "mod seal; use crate::Limit; pub struct Store(Limit); fn f() { seal::seal(); }"),
        ("store/seal.rs", "use super::Store; pub fn seal() -> Option<Store> { None }"),
    ]);
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn a_cycle_that_passes_from_a_parent_to_its_child_is_found() {
    let found = cycles_of(&[
        ("lib.rs", "mod store; mod check;"),
        ("store.rs", "mod seal; pub struct Store; fn f() { seal::seal(); }"),
        ("store/seal.rs", "pub fn seal() { crate::check::check() }"),
        ("check.rs", "use crate::store::Store; pub fn check() -> Option<Store> { None }"),
    ]);
    assert_eq!(found, [["store.rs", "store/seal.rs", "check.rs"]]);
}

#[test]
fn tests_inside_a_file_may_use_what_uses_it() {
    let found = cycles_of(&[
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "pub struct A; #[cfg(test)] mod tests { use crate::b::B; }"),
        ("b.rs", "use crate::a::A; pub struct B(A);"),
    ]);
    assert!(found.is_empty(), "{found:?}");
}
