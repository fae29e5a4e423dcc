//! Libraries that take the place of functions of the C library in a process.

use anyhow::{Context, bail};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Builds a library from C. Fails without a C compiler.
pub fn build(folder: &Path, name: &str, code: &str) -> anyhow::Result<PathBuf> {
    let (source, library) = (folder.join(name).with_extension("c"), folder.join(name).with_extension("so"));
    fs::write(&source, code)?;
    let built =
        Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(&source).output();
    let built = built.context("there is no C compiler (cc)")?;
    if !built.status.success() {
        bail!("cc: {}", String::from_utf8_lossy(&built.stderr));
    }
    Ok(library)
}
