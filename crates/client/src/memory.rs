//! The last answer of a TEM, for the time when it does not answer.

use crate::DacAddress;
use oasis_tem::TemView;
use std::{
    env,
    fs::{self, File},
    io::{self, Read, Write},
    path::PathBuf,
    time::{Duration, SystemTime},
};

/// Largest file that is read, bytes.
const MAX_FILE_BYTES: u64 = 8 << 20;

/// A file with the last answer of a TEM: `oasis/tem` in `$XDG_STATE_HOME` or `~/.local/state`.
pub struct Memory {
    file: PathBuf,
}

impl Memory {
    /// None without a home.
    pub fn of(tem: &DacAddress) -> Option<Self> {
        let variable = |name: &str| env::var(name).ok().map(PathBuf::from).filter(|path| path.is_absolute());
        let state = variable("XDG_STATE_HOME").or_else(|| Some(variable("HOME")?.join(".local/state")))?;
        Some(Self { file: state.join("oasis/tem").join(file_name(tem)) })
    }

    /// Replaces the file. That it cannot be written is no reason to fail.
    pub fn write(&self, view: &TemView) {
        let written = || -> io::Result<()> {
            let folder = self.file.parent().ok_or(io::ErrorKind::NotFound)?;
            fs::create_dir_all(folder)?;
            // Its mode lets only the owner read the names of nodes.
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            file.write_all(&serde_json::to_vec(view)?)?;
            file.persist(&self.file)?;
            Ok(())
        };
        if let Err(error) = written() {
            tracing::debug!(%error, file = %self.file.display(), "the list of DACs is not remembered");
        }
    }

    /// The answer, and its age.
    pub fn read(&self) -> Option<(TemView, Duration)> {
        let file = File::open(&self.file).ok()?;
        let written = file.metadata().and_then(|facts| facts.modified()).ok()?;
        let mut text = Vec::new();
        file.take(MAX_FILE_BYTES).read_to_end(&mut text).ok()?;
        let age = SystemTime::now().duration_since(written).unwrap_or_default();
        Some((serde_json::from_slice(&text).ok()?, age))
    }
}

/// No part of an address may leave the folder.
fn file_name(tem: &DacAddress) -> String {
    let (host, port) = tem.socket();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || ".:-_".contains(letter);
    let host = host.replace(|letter| !is_plain(letter), "_");
    // A name of a file has at most 255 bytes.
    let host: String = host.chars().take(200).collect();
    format!("{}-{host}-{port}.json", if tem.is_encrypted { "https" } else { "http" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_a_tem_stays_in_its_folder() {
        let of = |text: &str| file_name(&text.parse().unwrap());
        assert_eq!(of("http://127.0.0.1:7000"), "http-127.0.0.1-7000.json");
        assert_eq!(of("https://[::1]:7000"), "https-::1-7000.json");
        assert!(!of("http://..\\..%2F:1").contains(['\\', '%', '/']));
        assert!(of(&format!("http://{}:1", "x".repeat(4_000))).len() < 255);
    }
}
