//! Generates the probe types of a DAC's own node and of the demo from their PDL files, and finds the commit that `oasis --version` shows.

use oasis_pdl_gen::build::{pdl_files, rust};
use std::{env, path::Path, process::Command};

fn main() {
    let folders = ["../../pdl/dac", "../../pdl/demo"];
    let files: Vec<_> = folders.into_iter().flat_map(pdl_files).collect();
    rust(&files);
    println!("cargo::rerun-if-env-changed=OASIS_COMMIT");
    let commit = env::var("OASIS_COMMIT").ok().or_else(commit_of_git);
    println!("cargo::rustc-env=OASIS_BUILD_COMMIT={}", commit.unwrap_or_default());
}

/// Returns the commit of a release build. Development builds have none: each commit would compile them again.
fn commit_of_git() -> Option<String> {
    if env::var("PROFILE").ok()? != "release" {
        return None;
    }
    let root = Path::new("../..").canonicalize().ok()?;
    // The sources may be an unpacked tarball in the repository of something else.
    if Path::new(&git(&["rev-parse", "--show-toplevel"])?) != root {
        return None;
    }
    // Grows with each commit and checkout.
    let log = root.join(git(&["rev-parse", "--path-format=absolute", "--git-path", "logs/HEAD"])?);
    if log.exists() {
        println!("cargo::rerun-if-changed={}", log.display());
    }
    git(&["rev-parse", "--short=10", "HEAD"])
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
