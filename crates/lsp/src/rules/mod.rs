//! Files of rules as a language of the server.
//!
//! [`Rules`] takes probe types and instances from a [`Source`]: PDL files, an archive or a running DAC. It asks again when a file was saved, so that what has
//! come meanwhile is known.
//!
//! ```
//! use oasis_lsp::{Language, Rules, Server};
//! use oasis_rules::EditorCatalog;
//!
//! let rules = Rules::new(|| Ok(EditorCatalog::default()));
//! assert_eq!(rules.server_name(), "oasis rules lsp");
//! let _server = Server::new(rules);
//! ```

mod diagnostics;
mod documents;

use self::{
    diagnostics::{findings, without_types},
    documents::{Document, Documents},
};
use crate::{language::Language, text::Lines};
use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionTextEdit, DocumentSymbol, Hover, HoverContents, Location,
    MarkupContent, MarkupKind, Position, PublishDiagnosticsParams, SymbolKind, TextEdit, Uri,
};
use oasis_rules::{CompletionKind, EditorCatalog, OutlineItem, compile, complete, format, hover, outline};
use serde_json::Value;
use std::path::Path;

/// Source of probe types and instances.
pub trait Source {
    /// Returns them, or why they are not known. May block for some seconds.
    ///
    /// # Errors
    /// One sentence.
    fn load(&mut self) -> Result<EditorCatalog, String>;
}

impl<F: FnMut() -> Result<EditorCatalog, String>> Source for F {
    fn load(&mut self) -> Result<EditorCatalog, String> {
        self()
    }
}

/// Open files of rules.
pub struct Rules<S> {
    source: S,
    /// Last answer of the source; none before it is needed, and after a file was saved.
    around: Option<Result<EditorCatalog, String>>,
    /// Last catalog of the source, which may be out of reach for a while.
    last: EditorCatalog,
    documents: Documents,
    /// Documents that were closed, and whose diagnostics the editor still shows.
    closed: Vec<Uri>,
}

impl<S: Source> Rules<S> {
    /// With types and instances from a source.
    pub fn new(source: S) -> Self {
        let (documents, last) = (Documents::default(), EditorCatalog::default());
        Self { source, around: None, last, documents, closed: Vec::new() }
    }

    /// Returns the known catalog, and the reason if it may not be complete.
    fn around(&mut self) -> (&EditorCatalog, Option<&str>) {
        let known = match self.around.take() {
            Some(known) => known,
            None => self.source.load(),
        };
        match self.around.insert(known) {
            Ok(known) => (known, None),
            Err(problem) => (&self.last, Some(problem)),
        }
    }

    /// A document, and a byte of it.
    fn place(&self, uri: &Uri, at: Position) -> Option<(String, usize)> {
        let Document { text, .. } = self.documents.get(uri)?;
        Some((text.clone(), Lines::new(text).offset(at)))
    }
}

impl<S: Source> Language for Rules<S> {
    fn server_name(&self) -> &'static str {
        "oasis rules lsp"
    }

    fn triggers(&self) -> &'static [&'static str] {
        &[".", ":", "\"", "{", "/"]
    }

    fn has_definitions(&self) -> bool {
        false
    }

    fn initialize(&mut self, _root: &Path, _options: &Value) {}

    fn put(&mut self, uri: Uri, version: i32, text: String) {
        self.documents.put(uri, version, text);
    }

    fn close(&mut self, uri: &Uri) {
        self.closed.extend(self.documents.close(uri).map(|document| document.uri));
    }

    fn forget(&mut self) {
        if let Some(Ok(known)) = self.around.take() {
            self.last = known;
        }
    }

    fn text(&self, uri: &Uri) -> Option<&str> {
        self.documents.get(uri).map(|document| &*document.text)
    }

    fn publish(&mut self) -> Vec<PublishDiagnosticsParams> {
        let ended = std::mem::take(&mut self.closed).into_iter();
        let mut published: Vec<_> =
            ended.map(|uri| PublishDiagnosticsParams::new(uri, Vec::new(), None)).collect();
        let documents = std::mem::take(&mut self.documents);
        let (around, problem) = self.around();
        for (path, Document { uri, version, text }) in documents.iter() {
            let report = compile(path, text, &around.types);
            let warning = problem.map(without_types);
            let diagnostics = warning.into_iter().chain(findings(&report, uri, text)).collect();
            published.push(PublishDiagnosticsParams::new(uri.clone(), diagnostics, Some(*version)));
        }
        self.documents = documents;
        published
    }

    fn hover(&mut self, uri: &Uri, at: Position) -> Option<Hover> {
        let (text, offset) = self.place(uri, at)?;
        let found = hover(&text, offset, self.around().0)?;
        let lines = Lines::new(&text);
        let range = lsp_types::Range::new(lines.position(found.range.start), lines.position(found.range.end));
        let contents = MarkupContent { kind: MarkupKind::Markdown, value: found.text };
        Some(Hover { contents: HoverContents::Markup(contents), range: Some(range) })
    }

    fn definition(&mut self, _uri: &Uri, _at: Position) -> Option<Location> {
        None
    }

    fn completion(&mut self, uri: &Uri, at: Position) -> Option<Vec<CompletionItem>> {
        let (text, offset) = self.place(uri, at)?;
        let found = complete(&text, offset, self.around().0);
        let range = lsp_types::Range::new(Lines::new(&text).position(found.from), at);
        let item = |one: oasis_rules::Completion| CompletionItem {
            kind: Some(kind(one.kind)),
            detail: Some(one.detail).filter(|detail| !detail.is_empty()),
            text_edit: Some(CompletionTextEdit::Edit(TextEdit::new(range, one.label.clone()))),
            label: one.label,
            ..CompletionItem::default()
        };
        Some(found.items.into_iter().map(item).collect())
    }

    fn symbols(&self, text: &str) -> Vec<DocumentSymbol> {
        let lines = Lines::new(text);
        outline(text).into_iter().map(|outlined| symbol(&lines, outlined)).collect()
    }

    fn format(&self, path: &Path, text: &str) -> Option<String> {
        format(path, text).ok()
    }
}

fn kind(kind: CompletionKind) -> CompletionItemKind {
    match kind {
        CompletionKind::Keyword => CompletionItemKind::KEYWORD,
        CompletionKind::Input => CompletionItemKind::VARIABLE,
        CompletionKind::Metric | CompletionKind::Field => CompletionItemKind::FIELD,
        CompletionKind::Function => CompletionItemKind::FUNCTION,
        CompletionKind::Unit => CompletionItemKind::UNIT,
        CompletionKind::Enumerator => CompletionItemKind::ENUM_MEMBER,
        CompletionKind::Type => CompletionItemKind::CLASS,
        CompletionKind::Instance => CompletionItemKind::VALUE,
        CompletionKind::Placeholder => CompletionItemKind::PROPERTY,
    }
}

#[expect(deprecated, reason = "the struct cannot be made without its deprecated field")]
fn symbol(lines: &Lines<'_>, OutlineItem { name, kind, place, fields }: OutlineItem) -> DocumentSymbol {
    let kind = match kind {
        "input" => SymbolKind::INTERFACE,
        "derive" => SymbolKind::STRUCT,
        "" => SymbolKind::FIELD,
        _ => SymbolKind::EVENT,
    };
    let range = lines.range(place);
    let children: Vec<_> = fields.into_iter().map(|field| symbol(lines, field)).collect();
    DocumentSymbol {
        name,
        detail: None,
        kind,
        tags: None,
        deprecated: None,
        range,
        selection_range: range,
        children: (!children.is_empty()).then_some(children),
    }
}
