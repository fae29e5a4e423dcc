//! The files of rules on the disk.

use crate::config::RulesConfig;
use std::{
    collections::{BTreeSet, HashMap},
    fs::{self, File, Metadata},
    io::{self, Read},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// Longest file, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;
/// Most bytes of all files.
const MOST_BYTES: u64 = 64 << 20;
/// Most files.
const MOST_FILES: usize = 1_000;
/// Upper bound of the granularity of file times: a file that changed earlier than this before it was read gets another time if it
/// changes again. FAT has the coarsest times, of 2 s.
const MTIME_GRANULARITY: Duration = Duration::from_secs(3);

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

impl RuleFile {
    /// Whether its text has a name anywhere.
    pub fn names(&self, name: &str) -> bool {
        self.text.as_ref().is_ok_and(|text| text.contains(name))
    }
}

/// All files, in their order: those of the configuration, then those that the page saves.
#[derive(Debug, Default)]
pub struct Files {
    all: Vec<RuleFile>,
    /// The stamps of those that need not be read again while they have these.
    stamps: HashMap<PathBuf, Stamp>,
}

/// Properties that change if a file does: device, inode, length, and the times of the last change of its text and of
/// anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    file: (u64, u64),
    length: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

/// Result of polling the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Looked {
    /// Whether a file is there or gone, or has another text.
    pub has_changed: bool,
    /// Files that were read.
    pub read: usize,
}

/// Location of a file.
struct FileEntry {
    name: String,
    path: PathBuf,
    is_saved: bool,
}

impl Files {
    /// As they were last read.
    pub fn all(&self) -> &[RuleFile] {
        &self.all
    }

    /// Reads all of them at the next look.
    pub fn forget(&mut self) {
        self.stamps.clear();
    }

    /// Reads the files that may have changed.
    pub fn poll(&mut self, config: &RulesConfig, now: SystemTime) -> Looked {
        let places = places(config);
        let is_known = places.iter().map(|place| &place.path).eq(self.all.iter().map(|file| &file.path));
        let mut looked = Looked { has_changed: !is_known, read: 0 };
        let mut before: HashMap<PathBuf, Result<String, String>> =
            self.all.drain(..).map(|file| (file.path, file.text)).collect();
        let mut stamps = std::mem::take(&mut self.stamps);
        let mut bytes = 0;
        for FileEntry { name, path, is_saved } in places {
            let (known, stamp) = (before.remove(&path), stamps.remove(&path));
            let now_there = stamp.and_then(|_| fs::metadata(&path).ok());
            let is_same = now_there.is_some_and(|metadata| stamp == Some(Stamp::of(&metadata)));
            let (text, stamp) = match known {
                Some(text) if is_same => (text, stamp),
                known => {
                    let (text, stamp) = match read(&path, MOST_BYTES.saturating_sub(bytes)) {
                        Ok((text, stamp)) => (Ok(text), stamp.is_settled(now).then_some(stamp)),
                        Err(error) => (Err(error.to_string()), None),
                    };
                    looked.read += 1;
                    looked.has_changed |= known.is_some_and(|known| known != text);
                    (text, stamp)
                }
            };
            bytes += text.as_ref().map_or(0, |text| text.len() as u64);
            self.stamps.extend(stamp.map(|stamp| (path.clone(), stamp)));
            self.all.push(RuleFile { name, path, is_saved, text });
        }
        looked
    }
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        Self {
            file: (metadata.dev(), metadata.ino()),
            length: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    /// Whether the next change gives it another time than it had at this one.
    fn is_settled(&self, now: SystemTime) -> bool {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let settled = i64::try_from(now.saturating_sub(MTIME_GRANULARITY).as_secs()).unwrap_or(i64::MAX);
        self.modified.0.max(self.changed.0) < settled
    }
}

fn places(config: &RulesConfig) -> Vec<FileEntry> {
    let mut places: Vec<FileEntry> = Vec::new();
    for path in config.files.iter().map(Path::new) {
        let found = if path.is_dir() { of_directory(path) } else { vec![path.to_owned()] };
        let place = |path: PathBuf| FileEntry { name: path.display().to_string(), path, is_saved: false };
        places.extend(found.into_iter().map(place));
    }
    if let Some(saved) = config.saved_files() {
        let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let place = |path: PathBuf| FileEntry { name: name(&path), path, is_saved: true };
        places.extend(of_directory(&saved).into_iter().map(place));
    }
    let mut seen = BTreeSet::new();
    places.retain(|place| seen.insert(place.path.clone()));
    places.truncate(MOST_FILES);
    places
}

/// The files `*.rules` of a directory, by name. A directory that cannot be read has none.
fn of_directory(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rules") && path.is_file())
        .take(MOST_FILES)
        .collect();
    found.sort();
    found
}

/// Reads a file of at most `most` bytes, with its stamp of before.
fn read(path: &Path, most: u64) -> io::Result<(String, Stamp)> {
    let file = File::open(path)?;
    let stamp = Stamp::of(&file.metadata()?);
    let mut text = String::new();
    let length = file.take(MAX_FILE_BYTES.min(most) + 1).read_to_string(&mut text)? as u64;
    if length > MAX_FILE_BYTES {
        return Err(io::Error::other("the file is longer than 1 MiB"));
    }
    if length > most {
        return Err(io::Error::other("the files of rules are longer than 64 MiB together: remove some"));
    }
    Ok((text, stamp))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(folder: &Path, files: &[&str]) -> RulesConfig {
        let files = files.iter().map(|file| (*file).to_owned()).collect();
        let mut config = RulesConfig { files, directory: "state".into(), ..RulesConfig::default() };
        config.relative_to(folder);
        config
    }

    #[test]
    fn files_come_in_the_order_of_the_configuration_and_each_once() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("b.rules", "b");
        write("more/z.rules", "z");
        write("more/a.rules", "a");
        write("more/readme.txt", "not this");
        write("state/files/page.rules", "page");
        let config = config(folder.path(), &["b.rules", "more", "b.rules", "absent.rules"]);
        let mut files = Files::default();
        assert_eq!(files.poll(&config, SystemTime::now()), Looked { has_changed: true, read: 5 });
        let texts = files.all().iter().map(|file| file.text.as_deref().unwrap_or("unreadable"));
        assert_eq!(texts.collect::<Vec<_>>(), ["b", "a", "z", "unreadable", "page"]);
        assert_eq!(files.all()[4].name, "page.rules");
    }

    #[test]
    fn only_files_that_may_have_changed_are_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("a.rules"), "one").unwrap();
        fs::write(path("b.rules"), "two").unwrap();
        let config = config(folder.path(), &["."]);
        let mut files = Files::default();
        let soon = SystemTime::now();
        let later = soon + 2 * MTIME_GRANULARITY;
        assert_eq!(files.poll(&config, soon), Looked { has_changed: true, read: 2 });
        // A change in this moment would not give them another time.
        assert_eq!(files.poll(&config, soon), Looked { has_changed: false, read: 2 });
        assert_eq!(files.poll(&config, later), Looked { has_changed: false, read: 2 });
        assert_eq!(files.poll(&config, later), Looked { has_changed: false, read: 0 });
        fs::write(path("a.rules"), "longer").unwrap();
        assert_eq!(files.poll(&config, later), Looked { has_changed: true, read: 1 });
        fs::remove_file(path("b.rules")).unwrap();
        assert_eq!(files.poll(&config, later), Looked { has_changed: true, read: 0 });
        files.forget();
        assert_eq!(files.poll(&config, later), Looked { has_changed: false, read: 1 });
    }

    #[test]
    fn a_change_within_the_granularity_of_times_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.rules");
        let config = config(folder.path(), &["a.rules"]);
        let write = |text: &str| {
            fs::write(&path, text).unwrap();
            // In the same moment of a coarse clock.
            File::options().write(true).open(&path).unwrap().set_modified(UNIX_EPOCH).unwrap();
        };
        let mut files = Files::default();
        for text in ["one", "two", "six"] {
            write(text);
            assert!(files.poll(&config, SystemTime::now()).has_changed);
            assert_eq!(files.all()[0].text.as_deref(), Ok(text));
        }
    }

    #[test]
    fn the_files_together_have_a_bound() {
        let folder = tempfile::tempdir().unwrap();
        let text = " ".repeat(MAX_FILE_BYTES as usize);
        (10..75).for_each(|at| fs::write(folder.path().join(format!("{at}.rules")), &text).unwrap());
        fs::write(folder.path().join("99.rules"), format!("{text} ")).unwrap();
        let mut files = Files::default();
        files.poll(&config(folder.path(), &["."]), SystemTime::now());
        let errors: Vec<_> = files.all().iter().filter_map(|file| file.text.as_ref().err()).collect();
        assert_eq!(errors.len(), 2, "{errors:?}");
        assert!(errors[0].contains("64 MiB together"), "{errors:?}");
    }
}
