//! Each crate links its integration tests as one binary: with many, most of the time after a change goes into linking.

use oasis_structure::{Package, Workspace};

/// Tests that need a process of their own.
const APART: [(&str, &str); 3] = [
    // Its signal handler is that of the whole process, and sanitizers run the other tests.
    ("oasis-probe", "watched_thread"),
    // Reads the DAC's steady clock first on a simulated machine, where the clock of the process begins.
    ("oasis-sim", "seeds"),
    // Its subscriber is that of the whole process.
    ("oasis-tracing", "reentry"),
];

fn test_binaries(package: &Package) -> Vec<&str> {
    package.targets.iter().filter(|target| target.is_test()).map(|target| target.name.as_str()).collect()
}

fn is_apart(package: &Package, binary: &str) -> bool {
    APART.contains(&(package.name.as_str(), binary))
}

#[test]
fn a_crate_has_one_binary_of_integration_tests() {
    let workspace = Workspace::load().unwrap();
    let several: Vec<_> = workspace
        .packages
        .iter()
        .map(|package| {
            let mut binaries = test_binaries(package);
            binaries.retain(|binary| !is_apart(package, binary));
            (&package.name, binaries)
        })
        .filter(|(_, binaries)| binaries.len() > 1)
        .collect();
    assert!(several.is_empty(), "make these modules of tests/integration/main.rs: {several:?}");
}

#[test]
fn each_test_that_is_apart_exists() {
    let workspace = Workspace::load().unwrap();
    for (name, binary) in APART {
        let package = workspace.packages.iter().find(|package| package.name == name);
        assert!(package.is_some_and(|package| test_binaries(package).contains(&binary)), "{name}: {binary}");
    }
}
