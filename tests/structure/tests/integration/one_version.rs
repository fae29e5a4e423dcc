//! All parts of a release have the version of the top `Cargo.toml`, and the lab locks the dependencies that the program has.

use oasis_structure::Workspace;
use serde_json::Value;
use std::{collections::BTreeSet, fs, path::Path};

/// Packages of npm.
const NPM: [&str; 7] = [
    "package.json",
    "editors/vscode/package.json",
    "lab/node/package.json",
    "sdk/typescript/package.json",
    "tests/browser/package.json",
    "tests/openid/package.json",
    "web/package.json",
];
/// Our packages that others depend on, and the versions of which they name.
const OWN: &str = "@oasis/";

/// Returns the text between two others.
fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let (_, rest) = text.split_once(before).unwrap();
    rest.split_once(after).unwrap().0
}

fn read(root: &Path, file: &str) -> String {
    fs::read_to_string(root.join(file)).unwrap()
}

#[test]
fn all_parts_have_the_version_of_the_workspace() {
    let root = Workspace::load().unwrap().root;
    let cargo = read(&root, "Cargo.toml");
    let version = between(&cargo, "[workspace.package]\nversion = \"", "\"");
    let mut others = vec![
        (
            "sdk/python/pyproject.toml",
            between(&read(&root, "sdk/python/pyproject.toml"), "\nversion = \"", "\"").to_owned(),
        ),
        (
            "sdk/cpp/CMakeLists.txt",
            between(&read(&root, "sdk/cpp/CMakeLists.txt"), "project(oasis VERSION ", " ").to_owned(),
        ),
        ("sdk/java/pom.xml", between(&read(&root, "sdk/java/pom.xml"), "<version>", "<").to_owned()),
        ("lab/Cargo.toml", between(&read(&root, "lab/Cargo.toml"), "\nversion = \"", "\"").to_owned()),
    ];
    // As crates are published: a path here, a version there.
    for line in cargo.lines().filter(|line| line.starts_with("oasis-") && line.contains("version = \"")) {
        others.push(("Cargo.toml", between(line, "version = \"", "\"").to_owned()));
    }
    for file in NPM {
        let package: Value = serde_json::from_str(&read(&root, file)).unwrap();
        others.push((file, package["version"].as_str().unwrap().to_owned()));
        let tables = ["dependencies", "devDependencies", "peerDependencies"];
        let dependencies = tables.iter().filter_map(|table| package[table].as_object()).flatten();
        for (_, asked) in dependencies.filter(|(name, _)| name.starts_with(OWN)) {
            others.push((file, asked.as_str().unwrap().to_owned()));
        }
    }
    let wrong: Vec<_> = others.iter().filter(|(_, other)| other != version).collect();
    assert!(wrong.is_empty(), "the top Cargo.toml says {version}, and others: {wrong:?}");
}

#[test]
fn each_crate_takes_the_version_of_the_workspace() {
    let workspace = Workspace::load().unwrap();
    for package in &workspace.packages {
        let manifest = read(&workspace.root.join(workspace.folder(package)), "Cargo.toml");
        assert!(
            manifest.contains("\nversion.workspace = true\n"),
            "{} has a version of its own",
            package.name
        );
    }
}

/// Name and version of each package that `Cargo.lock` lists.
fn locked(lock: &str) -> BTreeSet<(&str, &str)> {
    let packages = lock.split("[[package]]\n").skip(1);
    packages
        .map(|package| (between(package, "name = \"", "\""), between(package, "version = \"", "\"")))
        .collect()
}

/// Then it measures what users run, and Cargo compiles a dependency once for both workspaces.
#[test]
fn the_lab_locks_the_versions_of_the_workspace() {
    let root = Workspace::load().unwrap().root;
    let (ours, lab) = (read(&root, "Cargo.lock"), read(&root, "lab/Cargo.lock"));
    let ours = locked(&ours);
    let is_shared = |name: &str| ours.iter().any(|(ours, _)| *ours == name);
    let other: Vec<_> =
        locked(&lab).into_iter().filter(|package| is_shared(package.0) && !ours.contains(package)).collect();
    assert!(other.is_empty(), "lab/Cargo.lock has other versions than Cargo.lock: {other:?}");
}
