//! The workspace as Cargo sees it, and the order that `ARCHITECTURE.md` gives its crates.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

const TOP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The crates of this repository.
#[derive(Debug, Deserialize)]
pub struct Workspace {
    /// Every member, examples and tests included.
    pub packages: Vec<Package>,
    /// The repository's top folder.
    #[serde(rename = "workspace_root")]
    pub root: PathBuf,
}

/// One member of the workspace.
#[derive(Debug, Deserialize)]
pub struct Package {
    /// The name in `Cargo.toml`.
    pub name: String,
    /// The path of `Cargo.toml`.
    manifest_path: PathBuf,
    /// The registries that it may be published to: `None` for any, an empty list for `publish = false`.
    publish: Option<Vec<String>>,
    /// Description in a registry: one sentence.
    pub description: Option<String>,
    /// The SPDX expression.
    pub license: Option<String>,
    /// The page that a registry shows, relative to the crate.
    pub readme: Option<PathBuf>,
    /// Dependencies of the crate, other workspaces' crates included.
    pub dependencies: Vec<Dependency>,
    /// Its library, binaries, tests, benches and examples.
    pub targets: Vec<Target>,
}

/// A dependency as `Cargo.toml` declares it, optional ones included.
#[derive(Debug, Deserialize)]
pub struct Dependency {
    /// The crate's name.
    pub name: String,
    /// `None` for a normal dependency, otherwise `dev` or `build`.
    pub kind: Option<String>,
    /// The versions that it accepts; `*` if none are named.
    pub req: String,
    /// The folder of a crate of this repository.
    pub path: Option<PathBuf>,
}

impl Package {
    /// Whether `cargo publish` takes it.
    pub fn is_published(&self) -> bool {
        self.publish.as_ref().is_none_or(|registries| !registries.is_empty())
    }
}

/// A library, binary, test, bench or example.
#[derive(Debug, Deserialize)]
pub struct Target {
    /// The name that Cargo gives it.
    pub name: String,
    kind: Vec<String>,
    /// The file that the compiler starts from.
    pub src_path: PathBuf,
}

impl Target {
    /// Whether it is a binary of integration tests.
    pub fn is_test(&self) -> bool {
        self.kind.iter().any(|kind| kind == "test")
    }
}

impl Workspace {
    /// Asks Cargo for this repository's crates.
    ///
    /// # Errors
    /// If Cargo fails or prints what this module cannot read.
    pub fn load() -> Result<Self> {
        Self::load_from("Cargo.toml")
    }

    /// Asks Cargo for the lab, a workspace of its own.
    ///
    /// # Errors
    /// If Cargo fails or prints what this module cannot read.
    pub fn load_lab() -> Result<Self> {
        Self::load_from("lab/Cargo.toml")
    }

    fn load_from(manifest: &str) -> Result<Self> {
        let text =
            cargo(&["metadata", "--format-version=1", "--no-deps", "--locked", "--manifest-path", manifest])?;
        serde_json::from_str(&text).context("output of cargo metadata")
    }

    /// Returns the folder of `package`, relative to the repository.
    pub fn folder<'a>(&self, package: &'a Package) -> &'a Path {
        let folder = package.manifest_path.parent().unwrap_or(&package.manifest_path);
        folder.strip_prefix(&self.root).unwrap_or(folder)
    }

    /// Returns the names of all crates that `package` links with these feature flags, without those of tests and build scripts, as
    /// `cargo tree` lists them.
    ///
    /// # Errors
    /// If Cargo fails, for example because there is no such package.
    pub fn linked(&self, package: &str, features: &[&str]) -> Result<BTreeSet<String>> {
        let tree =
            ["tree", "--locked", "--offline", "--package", package, "--edges", "normal", "--prefix", "none"];
        let text = cargo(&[&tree, features].concat())?;
        Ok(text.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect())
    }
}

fn cargo(arguments: &[&str]) -> Result<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo).args(arguments).current_dir(TOP).output()?;
    ensure!(output.status.success(), "cargo {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

/// Returns the crates' folders in the order of the list in `ARCHITECTURE.md`: each path under `crates/` with which an item begins.
pub fn crate_order(architecture: &str) -> Vec<String> {
    let heads = architecture.lines().filter_map(|line| line.strip_prefix("- ")?.split(':').next());
    heads
        .flat_map(|head| head.split('`').skip(1).step_by(2))
        .filter(|path| path.starts_with("crates/"))
        .map(str::to_owned)
        .collect()
}
