//! Functions of a language that a server needs.

use lsp_types::{CompletionItem, DocumentSymbol, Hover, Location, Position, PublishDiagnosticsParams, Uri};
use serde_json::Value;
use std::path::Path;

/// A language, and the documents of it that an editor has open. Requests about documents that are not open have no answer.
pub trait Language {
    /// The name of the server.
    fn server_name(&self) -> &'static str;

    /// Characters after which editors ask for completions.
    fn triggers(&self) -> &'static [&'static str];

    /// Whether it has definitions that editors can go to.
    fn has_definitions(&self) -> bool;

    /// Takes the folder of the workspace and the editor's `initializationOptions`.
    fn initialize(&mut self, root: &Path, options: &Value);

    /// Takes the text of a document that was opened or changed.
    fn put(&mut self, uri: Uri, version: i32, text: String);

    /// Closes a document.
    fn close(&mut self, uri: &Uri);

    /// Something outside of the open documents may have changed.
    fn forget(&mut self);

    /// The text of an open document.
    fn text(&self, uri: &Uri) -> Option<&str>;

    /// Diagnostics of the open documents. Files that had some before get an empty list.
    fn publish(&mut self) -> Vec<PublishDiagnosticsParams>;

    /// Describes the item at a place.
    fn hover(&mut self, uri: &Uri, at: Position) -> Option<Hover>;

    /// Returns the declaration of the name at a place.
    fn definition(&mut self, uri: &Uri, at: Position) -> Option<Location>;

    /// Returns the completions at a place.
    fn completion(&mut self, uri: &Uri, at: Position) -> Option<Vec<CompletionItem>>;

    /// The outline of a text.
    fn symbols(&self, text: &str) -> Vec<DocumentSymbol>;

    /// A text in its one layout, if it can be parsed.
    fn format(&self, path: &Path, text: &str) -> Option<String>;
}
