//! Layouts of the page, saved under names for all its users.
//!
//! They are kept in memory and, if a directory is configured, in one file each. Their content is up to the page: here they are JSON objects of bounded size.

use crate::whole_file;
use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

/// Longest name, in bytes.
const LONGEST_NAME: usize = 64;
const ENDING: &str = "json";

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
    #[error("the layout cannot be written to {path}: {source}", path = .path.display())]
    Storage { path: PathBuf, source: io::Error },
}

/// A layout, and when it was saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    pub json: String,
    pub changed: SystemTime,
}

/// All layouts, by name.
#[derive(Debug)]
pub struct LayoutStore {
    directory: Option<PathBuf>,
    most: usize,
    most_bytes: usize,
    /// Guards the files as well: one change at a time.
    known: Mutex<BTreeMap<String, Layout>>,
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
                match read(&path, most_bytes) {
                    Ok(layout) => drop(known.insert(name, layout)),
                    Err(error) => {
                        tracing::warn!(path = %path.display(), %error, "a layout cannot be read; it is left alone");
                    }
                }
            }
        }
        Ok(Self { directory, most, most_bytes, known: Mutex::new(known) })
    }

    /// Names, sizes in bytes and times, by name.
    pub fn list(&self) -> Vec<(String, usize, SystemTime)> {
        self.lock().iter().map(|(name, layout)| (name.clone(), layout.json.len(), layout.changed)).collect()
    }

    pub fn get(&self, name: &str) -> Option<Layout> {
        self.lock().get(name).cloned()
    }

    /// Saves, in place of one with the same name. Blocks while the file is written.
    pub fn put(&self, name: &str, json: &[u8]) -> Result<(), LayoutError> {
        if !is_name(name) {
            return Err(LayoutError::BadName(name.into()));
        }
        let layout = parse(json, self.most_bytes)?;
        let mut known = self.lock();
        if !known.contains_key(name) && known.len() >= self.most {
            return Err(LayoutError::TooMany(known.len()));
        }
        if let Some(path) = self.path(name) {
            whole_file::replace(&path, &layout.json)
                .map_err(|source| LayoutError::Storage { path, source })?;
        }
        known.insert(name.into(), layout);
        Ok(())
    }

    /// Whether there was one. Blocks while the file is removed.
    pub fn delete(&self, name: &str) -> Result<bool, LayoutError> {
        let mut known = self.lock();
        if !known.contains_key(name) {
            return Ok(false);
        }
        if let Some(path) = self.path(name) {
            match whole_file::remove(&path) {
                Err(source) if source.kind() != io::ErrorKind::NotFound => {
                    return Err(LayoutError::Storage { path, source });
                }
                _ => {}
            }
        }
        Ok(known.remove(name).is_some())
    }

    fn path(&self, name: &str) -> Option<PathBuf> {
        self.directory.as_ref().map(|directory| directory.join(format!("{name}.{ENDING}")))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Layout>> {
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

fn read(path: &Path, most_bytes: usize) -> Result<Layout, Box<dyn std::error::Error>> {
    let metadata = fs::metadata(path)?;
    if metadata.len() > most_bytes as u64 {
        return Err(Box::new(LayoutError::TooLarge(metadata.len() as usize, most_bytes)));
    }
    let layout = parse(&fs::read(path)?, most_bytes)?;
    Ok(Layout { changed: metadata.modified().unwrap_or(layout.changed), ..layout })
}

fn parse(json: &[u8], most_bytes: usize) -> Result<Layout, LayoutError> {
    if json.len() > most_bytes {
        return Err(LayoutError::TooLarge(json.len(), most_bytes));
    }
    let object: serde_json::Map<String, serde_json::Value> =
        serde_json::from_slice(json).map_err(|error| LayoutError::NotAnObject(error.to_string()))?;
    Ok(Layout { json: serde_json::Value::Object(object).to_string(), changed: SystemTime::now() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory() -> LayoutStore {
        LayoutStore::open(None, 2, 100).unwrap()
    }

    #[test]
    fn names_that_could_leave_the_directory_are_refused() {
        let layouts = memory();
        for name in ["", ".", "..", "../x", "a/b", "a\\b", ".hidden", " a", "a ", "a.", "ä", &"a".repeat(65)]
        {
            assert!(matches!(layouts.put(name, b"{}"), Err(LayoutError::BadName(_))), "{name:?}");
        }
        assert!(layouts.put("Line 3_night-shift.v2", b"{}").is_ok());
    }

    #[test]
    fn size_and_number_are_bounded_and_replacing_is_no_more() {
        let layouts = memory();
        assert!(matches!(layouts.put("a", &[b' '; 101]), Err(LayoutError::TooLarge(101, 100))));
        assert!(matches!(layouts.put("a", b"[]"), Err(LayoutError::NotAnObject(_))));
        layouts.put("a", b"{}").unwrap();
        layouts.put("b", b"{}").unwrap();
        assert!(matches!(layouts.put("c", b"{}"), Err(LayoutError::TooMany(2))));
        layouts.put("b", br#"{"x":1}"#).unwrap();
        assert_eq!(layouts.get("b").unwrap().json, r#"{"x":1}"#);
        assert!(layouts.delete("a").unwrap());
        assert!(!layouts.delete("a").unwrap());
        layouts.put("c", b"{}").unwrap();
    }
}
