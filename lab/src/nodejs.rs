//! Node.js and its packages on this machine.

use anyhow::{Context, ensure};
use serde_json::Value;
use std::{fs, path::Path, process::Command};

/// The programs of the lab for Node.js.
pub const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/node");

/// The version of Node.js.
pub fn version() -> anyhow::Result<String> {
    let output =
        Command::new("node").arg("--version").output().context("cannot run node: install Node.js 20")?;
    ensure!(output.status.success(), "node --version failed: {}", output.status);
    Ok(format!("Node.js {}", String::from_utf8_lossy(&output.stdout).trim()))
}

/// Checks that a program of the lab for Node.js is here.
pub fn program(name: &str) -> anyhow::Result<()> {
    from_checkout(&Path::new(FOLDER).join(name))
}

/// Checks that a file is here that an installed lab does not have.
pub fn from_checkout(path: &Path) -> anyhow::Result<()> {
    ensure!(
        path.exists(),
        "{} is missing: this needs a checkout of OASIS, where the lab was built",
        path.display()
    );
    Ok(())
}

/// The version of an installed package.
pub fn package(name: &str) -> anyhow::Result<String> {
    let manifest: Value = serde_json::from_str(&file(name, "package.json")?)
        .with_context(|| format!("package.json of {name}"))?;
    Ok(format!("{name} {}", manifest["version"].as_str().unwrap_or("of an unknown version")))
}

/// A file of an installed package.
pub fn file(package: &str, path: &str) -> anyhow::Result<String> {
    let folders = Path::new(FOLDER).ancestors();
    let files = folders.map(|folder| folder.join("node_modules").join(package).join(path));
    let text = files.filter_map(|file| fs::read_to_string(file).ok()).next();
    text.with_context(|| format!("the npm package {package} is not installed: run `npm ci`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_a_checkout_has_is_named() {
        assert!(program("push/main.js").is_ok());
        let error = program("no-such.js").expect_err("no program").to_string();
        assert!(error.contains("no-such.js is missing: this needs a checkout"), "{error}");
    }
}
