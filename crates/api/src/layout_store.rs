//! Layouts of the page, saved under names for all its users, with versions before the newest.
//!
//! They are kept in memory and, if a directory is configured, in files: `NAME.json` is the layout, `NAME.versions` its
//! history. Their content is up to the page: here they are JSON objects of bounded size.

use crate::{
    layout_versions::{Version, Versions},
    whole_file,
};
use oasis_wire::quantity::Nanos;
use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};

/// Longest name, in bytes.
const LONGEST_NAME: usize = 64;
const ENDING: &str = "json";
const HISTORY_ENDING: &str = "versions";

/// Why a layout cannot be saved.
#[derive(Debug, thiserror::Error)]
pub enum LayoutError {
    /// Names become file names, so they are plain.
    #[error(
        "{0:?} cannot be the name of a layout: 1 to {LONGEST_NAME} letters, digits, spaces and - _ . of ASCII, beginning with a letter or a digit, not ending with a space or a dot"
    )]
    BadName(String),
    #[error("a layout of {0} bytes, where {1} are allowed (doors.max_layout_bytes)")]
    TooLarge(usize, usize),
    #[error("there are {0} layouts, as many as allowed (doors.max_layouts): delete one first")]
    TooMany(usize),
    #[error("a layout is a JSON object: {0}")]
    NotAnObject(String),
    #[error("{}", changed_meanwhile(.0.as_ref()))]
    Changed(Option<Version>),
    #[error("the layout cannot be written to {path}: {source}", path = .path.display())]
    Storage { path: PathBuf, source: io::Error },
}

fn changed_meanwhile(newest: Option<&Version>) -> String {
    let Some(Version { revision, by, .. }) = newest else {
        return "there is no layout of this name any more: somebody has deleted it meanwhile".into();
    };
    let by = if by.is_empty() { "somebody" } else { by };
    format!("{by} has saved this layout meanwhile, as revision {revision}: read it, or save without If-Match")
}

/// Version that a client expects to replace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// Whatever is there.
    Anything,
    Nothing,
    /// This revision, and no newer one.
    Revision(u64),
}

/// All layouts, by name.
#[derive(Debug)]
pub struct LayoutStore {
    directory: Option<PathBuf>,
    most: usize,
    most_bytes: usize,
    /// Guards the files as well: one change at a time.
    known: Mutex<BTreeMap<String, Versions>>,
}

impl LayoutStore {
    /// Loads the layouts of `directory`, which is created if missing. Without a directory, layouts are lost when the process ends.
    pub fn open(directory: Option<PathBuf>, most: usize, most_bytes: usize) -> io::Result<Self> {
        let mut known = BTreeMap::new();
        if let Some(directory) = &directory {
            fs::create_dir_all(directory)?;
            for entry in fs::read_dir(directory)? {
                let path = entry?.path();
                let Some(name) = name_of(&path) else { continue };
                if known.len() == most {
                    tracing::warn!(directory = %directory.display(), most, "more layouts than allowed; the rest is left alone");
                    break;
                }
                match read(directory, &name, most_bytes) {
                    Ok(versions) => drop(known.insert(name, versions)),
                    Err(error) => {
                        tracing::warn!(path = %path.display(), %error, "a layout cannot be read; it is left alone");
                    }
                }
            }
        }
        Ok(Self { directory, most, most_bytes, known: Mutex::new(known) })
    }

    /// Whether layouts outlive the process.
    pub fn is_on_disk(&self) -> bool {
        self.directory.is_some()
    }

    /// The newest version of each, by name.
    pub fn list(&self) -> Vec<(String, Version)> {
        self.lock().iter().map(|(name, versions)| (name.clone(), versions.newest().clone())).collect()
    }

    /// A version; the newest without a revision.
    pub fn get(&self, name: &str, revision: Option<u64>) -> Option<Version> {
        let known = self.lock();
        let versions = known.get(name)?;
        revision.map_or(Some(versions.newest()), |revision| versions.find(revision)).cloned()
    }

    /// The versions that are kept, newest first.
    pub fn history(&self, name: &str) -> Option<Vec<Version>> {
        Some(self.lock().get(name)?.all().cloned().collect())
    }

    /// Saves, in place of what is expected there, and returns the revision. Blocks while files are written.
    pub fn put(&self, name: &str, json: &[u8], by: &str, expected: Expected) -> Result<u64, LayoutError> {
        if !is_name(name) {
            return Err(LayoutError::BadName(name.into()));
        }
        let json = parse(json, self.most_bytes)?;
        let mut known = self.lock();
        let before = known.get(name);
        let is_expected = match expected {
            Expected::Anything => true,
            Expected::Nothing => before.is_none(),
            Expected::Revision(revision) => before.is_some_and(|all| all.newest().revision == revision),
        };
        if !is_expected {
            return Err(LayoutError::Changed(before.map(|versions| versions.newest().clone())));
        }
        if before.is_none() && known.len() >= self.most {
            return Err(LayoutError::TooMany(known.len()));
        }
        let revision = before.map_or(1, |versions| versions.newest().revision.saturating_add(1));
        let version = Version { revision, changed: nanoseconds(SystemTime::now()), by: by.into(), json };
        let versions = match before {
            Some(before) => before.with(version, self.most_bytes),
            None => Versions::new(version),
        };
        self.write(name, &versions)?;
        known.insert(name.into(), versions);
        Ok(revision)
    }

    /// Writes the history first: if the rest fails, the layout is what it was.
    fn write(&self, name: &str, versions: &Versions) -> Result<(), LayoutError> {
        let Some(directory) = &self.directory else { return Ok(()) };
        let write = |ending, text: &str| {
            let path = file_of(directory, name, ending);
            whole_file::replace(&path, text).map_err(|source| LayoutError::Storage { path, source })
        };
        let history = versions.to_text().map_err(|error| LayoutError::NotAnObject(error.to_string()))?;
        write(HISTORY_ENDING, &history)?;
        write(ENDING, &versions.newest().json)
    }

    /// Whether there was one. Its history goes too. Blocks while the files are removed.
    pub fn delete(&self, name: &str) -> Result<bool, LayoutError> {
        let mut known = self.lock();
        if !known.contains_key(name) {
            return Ok(false);
        }
        for ending in [ENDING, HISTORY_ENDING] {
            let Some(path) = self.directory.as_ref().map(|directory| file_of(directory, name, ending)) else {
                break;
            };
            match whole_file::remove(&path) {
                Err(source) if source.kind() != io::ErrorKind::NotFound => {
                    return Err(LayoutError::Storage { path, source });
                }
                _ => {}
            }
        }
        Ok(known.remove(name).is_some())
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Versions>> {
        // No operation under this lock leaves a partial state.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b" -_.".contains(&byte);
    let bytes = name.as_bytes();
    (1..=LONGEST_NAME).contains(&bytes.len())
        && bytes[0].is_ascii_alphanumeric()
        && bytes.iter().copied().all(plain)
        && !name.ends_with([' ', '.'])
}

fn name_of(path: &Path) -> Option<String> {
    let name = path.file_stem()?.to_str()?;
    (path.extension()? == ENDING && is_name(name)).then(|| name.to_owned())
}

fn file_of(directory: &Path, name: &str, ending: &str) -> PathBuf {
    directory.join(format!("{name}.{ending}"))
}

/// Reads a layout and its history. A file that was changed in another way is the newest version.
fn read(directory: &Path, name: &str, most_bytes: usize) -> Result<Versions, Box<dyn std::error::Error>> {
    let path = file_of(directory, name, ENDING);
    let metadata = fs::metadata(&path)?;
    if metadata.len() > most_bytes as u64 {
        return Err(Box::new(LayoutError::TooLarge(metadata.len() as usize, most_bytes)));
    }
    let json = parse(&fs::read(&path)?, most_bytes)?;
    let changed = nanoseconds(metadata.modified().unwrap_or_else(|_| SystemTime::now()));
    let history = file_of(directory, name, HISTORY_ENDING);
    let before = read_history(&history, most_bytes).unwrap_or_else(|error| {
        tracing::warn!(path = %history.display(), %error, "the earlier versions of a layout cannot be read");
        None
    });
    let version = |revision| Version { revision, changed, by: String::new(), json: json.clone() };
    Ok(match before {
        Some(before) if before.newest().json == json => before,
        Some(before) => before.with(version(before.newest().revision.saturating_add(1)), most_bytes),
        None => Versions::new(version(1)),
    })
}

fn read_history(path: &Path, most_bytes: usize) -> io::Result<Option<Versions>> {
    let size = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        metadata => metadata?.len(),
    };
    if size > Versions::largest_file(most_bytes) {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("{size} bytes")));
    }
    Ok(Versions::from_text(&fs::read(path)?)?)
}

fn parse(json: &[u8], most_bytes: usize) -> Result<String, LayoutError> {
    if json.len() > most_bytes {
        return Err(LayoutError::TooLarge(json.len(), most_bytes));
    }
    let object: serde_json::Map<String, serde_json::Value> =
        serde_json::from_slice(json).map_err(|error| LayoutError::NotAnObject(error.to_string()))?;
    Ok(serde_json::Value::Object(object).to_string())
}

fn nanoseconds(time: SystemTime) -> Nanos {
    Nanos(time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory() -> LayoutStore {
        LayoutStore::open(None, 2, 100).unwrap()
    }

    fn put(layouts: &LayoutStore, name: &str, json: &[u8]) -> Result<u64, LayoutError> {
        layouts.put(name, json, "ada", Expected::Anything)
    }

    #[test]
    fn names_that_could_leave_the_directory_are_refused() {
        let layouts = memory();
        for name in ["", ".", "..", "../x", "a/b", "a\\b", ".hidden", " a", "a ", "a.", "ä", &"a".repeat(65)]
        {
            assert!(matches!(put(&layouts, name, b"{}"), Err(LayoutError::BadName(_))), "{name:?}");
        }
        assert!(put(&layouts, "Line 3_night-shift.v2", b"{}").is_ok());
    }

    #[test]
    fn size_and_number_are_bounded_and_replacing_is_no_more() {
        let layouts = memory();
        assert!(matches!(put(&layouts, "a", &[b' '; 101]), Err(LayoutError::TooLarge(101, 100))));
        assert!(matches!(put(&layouts, "a", b"[]"), Err(LayoutError::NotAnObject(_))));
        put(&layouts, "a", b"{}").unwrap();
        put(&layouts, "b", b"{}").unwrap();
        assert!(matches!(put(&layouts, "c", b"{}"), Err(LayoutError::TooMany(2))));
        put(&layouts, "b", br#"{"x":1}"#).unwrap();
        assert_eq!(layouts.get("b", None).unwrap().json, r#"{"x":1}"#);
        assert!(layouts.delete("a").unwrap());
        assert!(!layouts.delete("a").unwrap());
        put(&layouts, "c", b"{}").unwrap();
    }

    #[test]
    fn who_saves_over_what_somebody_else_has_saved_is_told() {
        let layouts = memory();
        let save = |by, expected| layouts.put("a", br#"{"x":1}"#, by, expected);
        assert!(matches!(save("ada", Expected::Revision(1)), Err(LayoutError::Changed(None))));
        assert_eq!(save("ada", Expected::Nothing).unwrap(), 1);
        assert_eq!(save("bob", Expected::Revision(1)).unwrap(), 2);
        for expected in [Expected::Nothing, Expected::Revision(1), Expected::Revision(3)] {
            let error = save("ada", expected).unwrap_err().to_string();
            assert!(error.contains("bob") && error.contains("revision 2"), "{error}");
        }
        assert_eq!(save("ada", Expected::Anything).unwrap(), 3);
        let history = layouts.history("a").unwrap();
        let told: Vec<_> = history.iter().map(|version| (version.revision, version.by.as_str())).collect();
        assert_eq!(told, [(3, "ada"), (2, "bob"), (1, "ada")]);
    }

    #[test]
    fn versions_outlive_the_process_and_a_file_changed_by_hand_is_the_newest() {
        let directory = tempfile::tempdir().unwrap();
        let open = || LayoutStore::open(Some(directory.path().into()), 2, 100).unwrap();
        put(&open(), "a.b", br#"{"x":1}"#).unwrap();
        put(&open(), "a.b", br#"{"x":2}"#).unwrap();
        assert_eq!(open().get("a.b", Some(1)).unwrap().json, r#"{"x":1}"#);
        fs::write(directory.path().join("a.b.json"), r#"{"x":3}"#).unwrap();
        let newest = open().get("a.b", None).unwrap();
        assert_eq!((newest.revision, newest.by.as_str(), newest.json.as_str()), (3, "", r#"{"x":3}"#));
        // Files that are no history are left out, and the layout stays.
        fs::write(directory.path().join("a.b.versions"), "{").unwrap();
        assert_eq!(open().get("a.b", None).unwrap().revision, 1);
        assert!(open().delete("a.b").unwrap());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
