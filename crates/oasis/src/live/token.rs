//! The API token of a command that talks to a DAC: from the environment, never from an argument, which every user of the host can see.

use anyhow::{Context, bail};
use std::{env, fs::File, io::Read};

/// Longest token that is read, bytes.
const LONGEST: u64 = 4_096;

/// Returns the value of `Authorization`, if there is a token in `OASIS_TOKEN`, or in the file that `OASIS_TOKEN_FILE` names.
///
/// # Errors
/// If the file cannot be read, or contains no token.
pub fn authorization() -> anyhow::Result<Option<String>> {
    let variable = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    let token = match (variable("OASIS_TOKEN"), variable("OASIS_TOKEN_FILE")) {
        (Some(token), _) => token,
        (None, Some(path)) => {
            let mut text = String::new();
            let file = File::open(&path).and_then(|file| file.take(LONGEST).read_to_string(&mut text));
            file.with_context(|| format!("cannot read the token in {path} (OASIS_TOKEN_FILE)"))?;
            text
        }
        (None, None) => return Ok(None),
    };
    let token = token.trim();
    if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        bail!(
            "OASIS_TOKEN or the file of OASIS_TOKEN_FILE contains no token: make one with oasis token create"
        );
    }
    Ok(Some(format!("Bearer {token}")))
}
