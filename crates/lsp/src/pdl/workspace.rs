//! Open documents and their compilation.

use crate::{text::Lines, uri};
use lsp_types::{Location, Position, Uri};
use oasis_pdl::{Disk, FileId, Loader, Report, Span, compile};
use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

/// A document that an editor has open.
struct Document {
    uri: Uri,
    version: i32,
    text: String,
    /// Its compilation with its includes; `None` after a change.
    report: Option<Report>,
}

/// Open documents over the files of the disk.
#[derive(Default)]
pub struct Workspace {
    documents: BTreeMap<PathBuf, Document>,
    include_dirs: Vec<PathBuf>,
}

impl Loader for Workspace {
    fn load(&self, path: &Path) -> io::Result<String> {
        match self.documents.get(path) {
            Some(document) => Ok(document.text.clone()),
            None => Disk.load(path),
        }
    }
}

impl Workspace {
    /// Creates a workspace that also searches these folders for includes.
    pub fn new(include_dirs: Vec<PathBuf>) -> Self {
        Self { documents: BTreeMap::new(), include_dirs }
    }

    /// Takes the text of a document that was opened or changed.
    pub fn put(&mut self, uri: Uri, version: i32, text: String) {
        self.forget();
        self.documents.insert(uri::to_path(&uri), Document { uri, version, text, report: None });
    }

    /// Closes a document: the file on the disk applies again.
    pub fn close(&mut self, uri: &Uri) {
        self.forget();
        self.documents.remove(&uri::to_path(uri));
    }

    /// A change in one document, or on the disk, may matter to all.
    pub fn forget(&mut self) {
        self.documents.values_mut().for_each(|document| document.report = None);
    }

    /// Compiles every document without a compilation.
    pub fn compile(&mut self) {
        let unknown = self.documents.iter().filter(|(_, document)| document.report.is_none());
        let reports: Vec<(PathBuf, Report)> = unknown
            .map(|(path, _)| (path.clone(), compile(std::slice::from_ref(path), &self.include_dirs, self)))
            .collect();
        for (path, report) in reports {
            if let Some(document) = self.documents.get_mut(&path) {
                document.report = Some(report);
            }
        }
    }

    /// Returns the views of the open documents.
    pub fn reports(&self) -> impl Iterator<Item = &Report> {
        self.documents.values().filter_map(|document| document.report.as_ref())
    }

    /// The URI that the editor gave a file, or one for its path.
    pub fn uri(&self, path: &Path) -> Option<Uri> {
        let open = self.documents.get(path).map(|document| document.uri.clone());
        open.or_else(|| uri::from_path(path))
    }

    /// The version of an open file.
    pub fn version(&self, path: &Path) -> Option<i32> {
        self.documents.get(path).map(|document| document.version)
    }

    /// Paths of the open documents.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.documents.keys().map(PathBuf::as_path)
    }

    /// The text of an open document.
    pub fn text(&self, uri: &Uri) -> Option<&str> {
        self.documents.get(&uri::to_path(uri)).map(|document| document.text.as_str())
    }

    /// Returns a document with its compilation, or `None` if it is not open.
    pub fn view(&mut self, uri: &Uri) -> Option<View<'_>> {
        self.compile();
        let path = uri::to_path(uri);
        let document = self.documents.get(&path)?;
        let report = document.report.as_ref()?;
        let file = report.sources.file(&path)?;
        Some(View { report, file, text: &document.text, workspace: self })
    }
}

/// A document, as the compiler sees it.
pub struct View<'a> {
    pub report: &'a Report,
    pub file: FileId,
    pub text: &'a str,
    workspace: &'a Workspace,
}

impl View<'_> {
    /// The byte at a position.
    pub fn offset(&self, position: Position) -> usize {
        Lines::new(self.text).offset(position)
    }

    /// Whether a place is in this document and contains the offset or ends at it.
    pub fn holds(&self, place: Span, offset: usize) -> bool {
        place.file == self.file && place.start <= offset && offset <= place.end
    }

    /// Returns the declaration of the name at an offset.
    pub fn target(&self, offset: usize) -> Option<Span> {
        let references = self.report.references.iter();
        references.filter(|reference| self.holds(reference.place, offset)).map(|found| found.target).next()
    }

    /// A place as editors know it.
    pub fn location(&self, place: Span) -> Option<Location> {
        let sources = &self.report.sources;
        let uri = self.workspace.uri(sources.path(place.file))?;
        Some(Location::new(uri, Lines::new(sources.text(place.file)).range(place)))
    }
}
