//! Open documents.

use crate::uri;
use lsp_types::Uri;
use std::{collections::BTreeMap, path::PathBuf};

/// A document that an editor has open.
#[derive(Debug)]
pub struct Document {
    pub uri: Uri,
    pub version: i32,
    pub text: String,
}

/// Open documents, by path.
#[derive(Debug, Default)]
pub struct Documents(BTreeMap<PathBuf, Document>);

impl Documents {
    pub fn put(&mut self, uri: Uri, version: i32, text: String) {
        self.0.insert(uri::to_path(&uri), Document { uri, version, text });
    }

    /// Returns the document, if it was open.
    pub fn close(&mut self, uri: &Uri) -> Option<Document> {
        self.0.remove(&uri::to_path(uri))
    }

    pub fn get(&self, uri: &Uri) -> Option<&Document> {
        self.0.get(&uri::to_path(uri))
    }

    pub fn iter(&self) -> impl Iterator<Item = (&PathBuf, &Document)> {
        self.0.iter()
    }
}
