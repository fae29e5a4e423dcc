//! Which crates are published for programs, and that a registry accepts them: `make package-crates`.

use oasis_structure::{Dependency, Package, Workspace};

/// In the order of publication: each depends on those before it only. `docs/sdk/packages.md` and `packaging/sdks/crates.sh` have the same order.
const PUBLISHED: [&str; 14] = [
    "oasis-wire",
    "oasis-tls",
    "oasis-channel",
    "oasis-probe-derive",
    "oasis-probe",
    "oasis-pdl",
    "oasis-pdl-gen",
    "oasis-no-openapi",
    "oasis-tem",
    "oasis-client",
    "oasis-ei-node",
    "oasis-serial",
    "oasis-probes",
    "oasis-tracing",
];

fn published(workspace: &Workspace) -> Vec<&Package> {
    workspace.packages.iter().filter(|package| package.is_published()).collect()
}

#[test]
fn crates_are_published_only_if_they_are_listed() {
    let workspace = Workspace::load().unwrap();
    let mut found: Vec<&str> = published(&workspace).iter().map(|package| package.name.as_str()).collect();
    found.sort_unstable();
    let mut listed = PUBLISHED;
    listed.sort_unstable();
    assert_eq!(found, listed, "left: crates without `publish = false`; right: the list of this test");
}

#[test]
fn scripts_and_pages_have_the_same_order() {
    let workspace = Workspace::load().unwrap();
    for file in ["packaging/sdks/crates.sh", "docs/sdk/packages.md"] {
        let text = std::fs::read_to_string(workspace.root.join(file)).unwrap();
        let order = PUBLISHED.join(" ");
        let words: Vec<&str> = text.split_whitespace().collect();
        assert!(words.join(" ").contains(&order), "{file} does not have {order}");
    }
}

#[test]
fn published_crates_say_what_a_registry_shows() {
    let workspace = Workspace::load().unwrap();
    for package in published(&workspace) {
        let (folder, name) = (workspace.root.join(workspace.folder(package)), &package.name);
        assert!(package.description.is_some(), "{name} has no description");
        assert_eq!(package.license.as_deref(), Some("Apache-2.0"), "{name}");
        let readme = std::fs::read_to_string(folder.join(package.readme.as_ref().unwrap())).unwrap();
        assert!(readme.starts_with(&format!("# {name}\n")), "the README of {name} begins otherwise");
        assert!(
            std::fs::read_to_string(folder.join("LICENSE")).unwrap().contains("Apache License"),
            "{name}"
        );
    }
}

/// Dependencies of tests too, since a registry gets these as well if they have a version. Cargo leaves out those without.
#[test]
fn published_crates_depend_on_versions_of_published_crates_before_them() {
    let workspace = Workspace::load().unwrap();
    let place = |name: &str| PUBLISHED.iter().position(|listed| *listed == name);
    let mut checked = 0;
    for package in published(&workspace) {
        let is_uploaded = |dependency: &&Dependency| {
            dependency.path.is_some() && (dependency.kind.as_deref(), &*dependency.req) != (Some("dev"), "*")
        };
        for dependency in package.dependencies.iter().filter(is_uploaded) {
            let (name, other) = (&package.name, &dependency.name);
            assert_eq!(dependency.req, "^0.1.0", "{name} needs a version of {other} in the top Cargo.toml");
            assert!(
                place(other) < place(name) && place(other).is_some(),
                "{name} is published before {other}"
            );
            checked += 1;
        }
    }
    assert!(checked > 20, "{checked} dependencies");
}
