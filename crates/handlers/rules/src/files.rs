//! The files of rules on the disk.

use crate::config::RulesConfig;
use std::{
    collections::BTreeSet,
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

/// Longest file, in bytes.
const LONGEST: u64 = 1 << 20;
/// Most files.
const MOST_FILES: usize = 1_000;

/// A file as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleFile {
    /// The name of a file that the page can change, and the path of others.
    pub name: String,
    pub path: PathBuf,
    /// Whether the page can change it.
    pub is_saved: bool,
    /// Its text, or why it cannot be read.
    pub text: Result<String, String>,
}

/// Reads all files, in their order: those of the configuration, then those that the page saves.
pub fn read(config: &RulesConfig) -> Vec<RuleFile> {
    let mut paths: Vec<(String, PathBuf, bool)> = Vec::new();
    for path in config.files.iter().map(Path::new) {
        let found = if path.is_dir() { of_directory(path) } else { vec![path.to_owned()] };
        paths.extend(found.into_iter().map(|path| (path.display().to_string(), path, false)));
    }
    if let Some(saved) = config.saved_files() {
        let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        paths.extend(of_directory(&saved).into_iter().map(|path| (name(&path), path, true)));
    }
    let mut seen = BTreeSet::new();
    paths.retain(|(_, path, _)| seen.insert(path.clone()));
    paths.truncate(MOST_FILES);
    paths
        .into_iter()
        .map(|(name, path, is_saved)| {
            let text = read_file(&path).map_err(|error| error.to_string());
            RuleFile { name, path, is_saved, text }
        })
        .collect()
}

/// The files `*.rules` of a directory, by name. A directory that cannot be read has none.
fn of_directory(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rules") && path.is_file())
        .take(MOST_FILES)
        .collect();
    found.sort();
    found
}

fn read_file(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let length = File::open(path)?.take(LONGEST + 1).read_to_string(&mut text)?;
    if length as u64 > LONGEST {
        return Err(io::Error::other("the file is longer than 1 MiB"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_come_in_the_order_of_the_configuration_and_each_once() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("b.rules", "b");
        write("more/z.rules", "z");
        write("more/a.rules", "a");
        write("more/readme.txt", "not this");
        write("state/files/page.rules", "page");
        let mut config = RulesConfig {
            files: vec!["b.rules".into(), "more".into(), "b.rules".into(), "absent.rules".into()],
            directory: "state".into(),
            ..RulesConfig::default()
        };
        config.relative_to(folder.path());
        let files = read(&config);
        let texts: Vec<_> = files.iter().map(|file| file.text.as_deref().unwrap_or("unreadable")).collect();
        assert_eq!(texts, ["b", "a", "z", "unreadable", "page"]);
        assert_eq!(files[4].name, "page.rules");
    }
}
