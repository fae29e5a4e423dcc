//! The API token of a client: from the environment, never from an argument, which every user of the host can see.

use crate::ClientError;
use std::{
    env,
    fs::File,
    io::{self, ErrorKind, Read},
    os::unix::fs::MetadataExt,
    path::Path,
};

/// Longest token that is read, bytes.
const MAX_TOKEN_BYTES: u64 = 4_096;

/// Returns the value of `Authorization`, if there is a token in `OASIS_TOKEN`, or in the file that `OASIS_TOKEN_FILE` names.
///
/// # Errors
/// If the file cannot be read, others can read it, or it contains no token.
pub fn authorization() -> Result<Option<String>, ClientError> {
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
pub fn from_file(path: &Path) -> Result<String, ClientError> {
    let failed = |why: String| ClientError::TokenFile { path: path.to_owned(), why };
    let mut text = String::new();
    let file = File::open(path).map_err(|error| failed(absence(path, &error)))?;
    let facts = file.metadata().map_err(|error| failed(error.to_string()))?;
    let mode = facts.mode() & 0o777;
    // A pipe or a terminal has no other readers.
    if facts.is_file() && mode & 0o077 != 0 {
        return Err(failed(format!(
            "others can read it (mode {mode:03o}): run `chmod 600 {}`",
            path.display()
        )));
    }
    file.take(MAX_TOKEN_BYTES).read_to_string(&mut text).map_err(|error| failed(error.to_string()))?;
    bearer(&text)
}

/// Describes why a file cannot be opened.
fn absence(path: &Path, error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => {
            let path = path.display();
            format!("{error}: make it with `oasis token create NAME --role ROLE --token-file {path}`")
        }
        _ => error.to_string(),
    }
}

fn bearer(token: &str) -> Result<String, ClientError> {
    let token = token.trim();
    if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(ClientError::NoToken);
    }
    Ok(format!("Bearer {token}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_does_not_exist_has_a_remedy() {
        let missing = from_file(Path::new("/nowhere/token")).unwrap_err().to_string();
        assert!(missing.contains("--token-file /nowhere/token"), "{missing}");
    }
}
