//! Secrets in files, and in the environment.

use std::{env, fs::File, io::Read, os::unix::fs::MetadataExt};

/// Longest file with a secret, in bytes.
const MAX_SECRET_BYTES: u64 = 64 * 1024;

/// Why a secret cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no secret in {path}: {why}")]
pub struct BadSecret {
    path: String,
    why: String,
}

/// Reads the password: of the file, or else of this environment variable.
pub(crate) fn password(file: &str, variable: &str) -> Result<Option<String>, BadSecret> {
    if file.is_empty() {
        return Ok(env::var(variable).ok().filter(|password| !password.is_empty()));
    }
    secret_of_file(file).map(Some)
}

/// Reads the first line of a file.
///
/// # Errors
/// If the file cannot be read, or others can read it.
pub fn secret_of_file(file: &str) -> Result<String, BadSecret> {
    first_line(file).map_err(|why| BadSecret { path: file.into(), why })
}

fn first_line(path: &str) -> Result<String, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let metadata = file.metadata().map_err(|error| error.to_string())?;
    let mode = metadata.mode() & 0o777;
    if metadata.is_file() && mode & 0o077 != 0 {
        return Err(format!("others can read it (mode {mode:03o}): run `chmod 600 {path}`"));
    }
    let mut text = String::new();
    file.take(MAX_SECRET_BYTES).read_to_string(&mut text).map_err(|error| error.to_string())?;
    let line = text.lines().next().unwrap_or_default().trim();
    if line.is_empty() { Err("its first line is empty".into()) } else { Ok(line.into()) }
}
