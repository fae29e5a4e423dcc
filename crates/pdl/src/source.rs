//! Source texts and places in them.

use std::{
    collections::HashMap,
    io,
    ops::Range,
    path::{Component, Path, PathBuf},
};

/// A file of a [`Sources`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub(crate) usize);

/// A piece of a file's text, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Span {
    /// Which file.
    pub file: FileId,
    /// First byte.
    pub start: usize,
    /// The offset after the last byte.
    pub end: usize,
}

impl Span {
    /// These bytes of a file.
    pub fn new(file: FileId, range: Range<usize>) -> Self {
        Self { file, start: range.start, end: range.end }
    }

    /// Up to the end of another span of the same file, if that is later.
    pub fn to(self, other: Self) -> Self {
        Self { end: other.end.max(self.end), ..self }
    }
}

/// A use of a name or a path, and the place of its declaration. For an included file that is its first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reference {
    /// Position where it is used.
    pub place: Span,
    /// The place of the name of its target.
    pub target: Span,
}

/// The source of texts. The compiler itself opens no files.
pub trait Loader {
    /// The text of a file.
    fn load(&self, path: &Path) -> io::Result<String>;
}

/// The file system.
#[derive(Debug, Clone, Copy, Default)]
pub struct Disk;

impl Loader for Disk {
    fn load(&self, path: &Path) -> io::Result<String> {
        std::fs::read_to_string(path)
    }
}

/// Texts in memory: an editor's unsaved files, a test's.
impl Loader for HashMap<PathBuf, String> {
    fn load(&self, path: &Path) -> io::Result<String> {
        self.get(path).cloned().ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "No such file"))
    }
}

/// All texts of one compilation.
#[derive(Debug, Default)]
pub struct Sources {
    files: Vec<(PathBuf, String)>,
    by_path: HashMap<PathBuf, FileId>,
}

impl Sources {
    /// Adds a text; `path` says where it is from.
    pub fn add(&mut self, path: PathBuf, text: String) -> FileId {
        let id = self.next();
        self.by_path.insert(path.clone(), id);
        self.files.push((path, text));
        id
    }

    /// The number of the next file.
    pub(crate) fn next(&self) -> FileId {
        FileId(self.files.len())
    }

    /// The file of this path, which is as it was given or found.
    pub fn file(&self, path: &Path) -> Option<FileId> {
        self.by_path.get(path).copied()
    }

    /// A file's path as it was given or found.
    pub fn path(&self, file: FileId) -> &Path {
        &self.files[file.0].0
    }

    /// A file's text.
    pub fn text(&self, file: FileId) -> &str {
        &self.files[file.0].1
    }

    /// The text of a span.
    pub fn slice(&self, span: Span) -> &str {
        self.text(span.file).get(span.start..span.end).unwrap_or_default()
    }

    /// Line and column of a span's first character, both from 1; columns count characters.
    pub fn line_and_column(&self, span: Span) -> (usize, usize) {
        let before = self.text(span.file).get(..span.start).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }
}

/// Removes `.` and `x/..` without access to the file system, so that one file has one name.
pub fn normalized(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if matches!(clean.components().next_back(), Some(Component::Normal(_))) => {
                clean.pop();
            }
            other => clean.push(other),
        }
    }
    clean
}
