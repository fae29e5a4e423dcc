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

/// The version of an installed package.
pub fn package(name: &str) -> anyhow::Result<String> {
    let manifests = Path::new(FOLDER)
        .ancestors()
        .map(|folder| folder.join("node_modules").join(name).join("package.json"));
    let text = manifests.filter_map(|manifest| fs::read(manifest).ok()).next();
    let text = text.with_context(|| format!("the npm package {name} is not installed: run `npm ci`"))?;
    let manifest: Value = serde_json::from_slice(&text).with_context(|| format!("package.json of {name}"))?;
    Ok(format!("{name} {}", manifest["version"].as_str().unwrap_or("of an unknown version")))
}
