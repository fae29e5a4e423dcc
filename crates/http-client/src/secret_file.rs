//! Secrets in files of their own, which others must not be able to read.

use std::{
    fmt,
    fs::File,
    io::Read,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// Longest secret that is read, bytes.
const MAX_SECRET_BYTES: u64 = 4_096;

/// Why a file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot use {}: {why}", path.display())]
pub struct BadSecretFile {
    /// The file.
    pub path: PathBuf,
    /// The problem, and a remedy.
    pub why: String,
}

/// A secret; never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// The secret itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Reads the first line of a file; `None` if the path is empty.
    ///
    /// # Errors
    /// If it cannot be read, is empty, or others can read it.
    pub fn read(path: &Path) -> Result<Option<Self>, BadSecretFile> {
        if path.as_os_str().is_empty() {
            return Ok(None);
        }
        let bad = |why: String| BadSecretFile { path: path.to_owned(), why };
        let file = File::open(path).map_err(|error| bad(error.to_string()))?;
        let metadata = file.metadata().map_err(|error| bad(error.to_string()))?;
        let mode = metadata.mode() & 0o777;
        if metadata.is_file() && mode & 0o077 != 0 {
            let why = format!("others can read it (mode {mode:03o}): run `chmod 600 {}`", path.display());
            return Err(bad(why));
        }
        let mut text = String::new();
        file.take(MAX_SECRET_BYTES).read_to_string(&mut text).map_err(|error| bad(error.to_string()))?;
        match text.lines().next().unwrap_or_default().trim() {
            "" => Err(bad("its first line is empty".into())),
            line => Ok(Some(Self(line.into()))),
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, os::unix::fs::PermissionsExt};

    #[test]
    fn a_secret_that_others_can_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        fs::write(&path, "hush\nmore\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let error = Secret::read(&path).unwrap_err().to_string();
        assert!(error.contains("chmod 600"), "{error}");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let secret = Secret::read(&path).unwrap().unwrap();
        assert_eq!(secret.reveal(), "hush");
        assert_eq!(format!("{secret:?}"), "Secret");
        fs::write(&path, "\n").unwrap();
        assert!(Secret::read(&path).unwrap_err().to_string().contains("empty"));
        assert_eq!(Secret::read(Path::new("")).unwrap(), None);
    }
}
