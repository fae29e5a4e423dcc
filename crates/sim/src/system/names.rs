//! The names of a simulated host, and the changes of them that a power cut may undo.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Name {
    Folder,
    File(u64),
}

#[derive(Debug)]
pub(super) enum NameChange {
    Add(PathBuf, Name),
    Remove(PathBuf),
    Rename(PathBuf, PathBuf),
}

impl NameChange {
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Add(path, _) => format!("new name {}", file_name(path)),
            Self::Remove(path) => format!("removal of {}", file_name(path)),
            Self::Rename(from, to) => format!("renaming of {} to {}", file_name(from), file_name(to)),
        }
    }

    pub(super) fn folder(&self) -> &Path {
        let (Self::Add(path, _) | Self::Remove(path) | Self::Rename(path, _)) = self;
        path.parent().unwrap_or(path)
    }

    pub(super) fn apply(&self, names: &mut BTreeMap<PathBuf, Name>) {
        match self {
            Self::Add(path, name) => drop(names.insert(path.clone(), *name)),
            Self::Remove(path) => drop(names.remove(path)),
            Self::Rename(from, to) => {
                if let Some(name) = names.remove(from) {
                    names.insert(to.clone(), name);
                }
            }
        }
    }
}

pub(super) fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
