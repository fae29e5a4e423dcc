//! The crates depend on each other only in the order of the list in `ARCHITECTURE.md`.

use std::collections::BTreeSet;

use oasis_structure::{Workspace, crate_order};

fn order_of(workspace: &Workspace) -> Vec<String> {
    crate_order(&std::fs::read_to_string(workspace.root.join("ARCHITECTURE.md")).unwrap())
}

#[test]
fn the_architecture_lists_each_crate_once() {
    let workspace = Workspace::load().unwrap();
    let mut listed = order_of(&workspace);
    listed.sort();
    let mut present: Vec<String> = workspace
        .packages
        .iter()
        .map(|package| workspace.folder(package).display().to_string())
        .filter(|folder| folder.starts_with("crates/"))
        .collect();
    present.sort();
    assert_eq!(listed, present, "left: the list of ARCHITECTURE.md; right: the crates of the workspace");
}

#[test]
fn the_architecture_fits_three_screens() {
    let workspace = Workspace::load().unwrap();
    let bytes = std::fs::metadata(workspace.root.join("ARCHITECTURE.md")).unwrap().len();
    assert!(
        bytes <= 12_000,
        "{bytes} bytes: steps belong to docs/sample-path.md, limits to docs/reference/bounds.md"
    );
}

/// Dev-dependencies are free: a crate may be tested against what is built on it.
#[test]
fn a_crate_depends_only_on_crates_above_it() {
    let workspace = Workspace::load().unwrap();
    let order = order_of(&workspace);
    let place = |folder: &str| order.iter().position(|listed| listed == folder);
    let mut wrong = BTreeSet::new();
    for package in &workspace.packages {
        let folder = workspace.folder(package).display().to_string();
        let Some(own) = place(&folder) else { continue };
        for dependency in package.dependencies.iter().filter(|d| d.kind.as_deref() != Some("dev")) {
            let Some(path) = &dependency.path else { continue };
            let other = path.strip_prefix(&workspace.root).unwrap().display().to_string();
            if place(&other).is_none_or(|other| other >= own) {
                wrong.insert(format!("{folder} depends on {other}, which is not above it"));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{wrong:#?}\nMove the code, or the item in ARCHITECTURE.md if the order is wrong."
    );
}
