//! The API token of a command that talks to a DAC: from the environment, never from an argument, which every user of the host can see.

use crate::private_file;
use anyhow::{Context, bail};
use std::{env, io::Read, path::Path};

/// Longest token that is read, bytes.
const LONGEST: u64 = 4_096;

/// Returns the value of `Authorization`, if there is a token in `OASIS_TOKEN`, or in the file that `OASIS_TOKEN_FILE` names.
///
/// # Errors
/// If the file cannot be read, others can read it, or it contains no token.
pub fn authorization() -> anyhow::Result<Option<String>> {
    let variable = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    match (variable("OASIS_TOKEN"), variable("OASIS_TOKEN_FILE")) {
        (Some(token), _) => bearer(&token).map(Some),
        (None, Some(path)) => from_file(Path::new(&path)).map(Some),
        (None, None) => Ok(None),
    }
}

/// Returns the value of `Authorization` with the token of a file.
///
/// # Errors
/// If the file cannot be read, others can read it, or it contains no token.
pub fn from_file(path: &Path) -> anyhow::Result<String> {
    let mut text = String::new();
    let file = private_file::open(path, "the token")?;
    file.take(LONGEST)
        .read_to_string(&mut text)
        .with_context(|| format!("cannot read the token in {}", path.display()))?;
    bearer(&text)
}

fn bearer(token: &str) -> anyhow::Result<String> {
    let token = token.trim();
    if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        bail!(
            "OASIS_TOKEN, or the file of --token-file or OASIS_TOKEN_FILE, contains no token: make one with oasis token create"
        );
    }
    Ok(format!("Bearer {token}"))
}
