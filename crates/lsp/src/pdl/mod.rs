//! The Probe Definition Language. One file for each request: `hover`, `definition`, `completion`, `symbols`, `diagnostics`.

mod completion;
mod context;
mod declared;
mod definition;
mod diagnostics;
mod hover;
mod size;
mod symbols;
mod workspace;

use self::{
    completion::completion, definition::definition, hover::hover, symbols::symbols, workspace::Workspace,
};
use crate::language::Language;
use lsp_types::{CompletionItem, DocumentSymbol, Hover, Location, Position, PublishDiagnosticsParams, Uri};
use oasis_pdl::format;
use serde_json::Value;
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

/// PDL files and their includes.
#[derive(Default)]
pub struct Pdl {
    workspace: Workspace,
    /// Files with reported errors.
    reported: BTreeSet<PathBuf>,
}

impl Language for Pdl {
    fn server_name(&self) -> &'static str {
        "oasis pdl lsp"
    }

    fn triggers(&self) -> &'static [&'static str] {
        &[":", "[", "(", "\"", "<", "#"]
    }

    fn has_definitions(&self) -> bool {
        true
    }

    /// `initializationOptions.includePaths` are folders for includes, from the workspace's folder on.
    fn initialize(&mut self, root: &Path, options: &Value) {
        let paths = options["includePaths"].as_array();
        let folders = paths.into_iter().flatten().filter_map(Value::as_str);
        self.workspace = Workspace::new(folders.map(|folder| root.join(Path::new(folder))).collect());
    }

    fn put(&mut self, uri: Uri, version: i32, text: String) {
        self.workspace.put(uri, version, text);
    }

    fn close(&mut self, uri: &Uri) {
        self.workspace.close(uri);
    }

    fn forget(&mut self) {
        self.workspace.forget();
    }

    fn text(&self, uri: &Uri) -> Option<&str> {
        self.workspace.text(uri)
    }

    fn publish(&mut self) -> Vec<PublishDiagnosticsParams> {
        diagnostics::publish(&mut self.workspace, &mut self.reported)
    }

    fn hover(&mut self, uri: &Uri, at: Position) -> Option<Hover> {
        hover(&self.workspace.view(uri)?, at)
    }

    fn definition(&mut self, uri: &Uri, at: Position) -> Option<Location> {
        definition(&self.workspace.view(uri)?, at)
    }

    fn completion(&mut self, uri: &Uri, at: Position) -> Option<Vec<CompletionItem>> {
        Some(completion(&self.workspace.view(uri)?, at))
    }

    fn symbols(&self, text: &str) -> Vec<DocumentSymbol> {
        symbols(text)
    }

    fn format(&self, path: &Path, text: &str) -> Option<String> {
        format(path, text).ok()
    }
}
