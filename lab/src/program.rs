//! The program that the lab starts as DAC, relay or replay.

use anyhow::ensure;
use std::{env, path::PathBuf};

/// Returns the path of `oasis`: that of `OASIS_BIN`, or the one beside this program.
///
/// # Errors
/// If there is no such file.
pub fn oasis() -> anyhow::Result<PathBuf> {
    match env::var_os("OASIS_BIN") {
        Some(named) => existing(named.into()),
        None => existing(env::current_exe()?.with_file_name("oasis")),
    }
}

/// Returns the path of a program that exists.
///
/// # Errors
/// If there is no such file.
pub fn existing(program: PathBuf) -> anyhow::Result<PathBuf> {
    ensure!(
        program.is_file(),
        "no {}: build it (cargo build -p oasis, or --release), or name one with OASIS_BIN",
        program.display()
    );
    Ok(program)
}
