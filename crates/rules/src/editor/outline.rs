//! The outline of a text.

use crate::{ast::Kind, parser};
use oasis_pdl::{Sources, Span};
use std::path::PathBuf;

/// A declaration, or a field of a derived instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutlineItem {
    /// Its name.
    pub name: String,
    /// The word that begins its declaration; empty for a field.
    pub kind: &'static str,
    /// The place of its name.
    pub place: Span,
    /// The fields of a derived instance.
    pub fields: Vec<OutlineItem>,
}

/// Returns the declarations without syntax errors, in the order of the text.
pub fn outline(text: &str) -> Vec<OutlineItem> {
    let file = Sources::default().add(PathBuf::new(), String::new());
    let (declarations, _) = parser::parse(file, text);
    let outlined = declarations.into_iter().map(|declaration| {
        let (kind, fields) = match declaration.kind {
            Kind::Input(_) => ("input", Vec::new()),
            Kind::Alarm(_) => ("alarm", Vec::new()),
            Kind::Event(_) => ("event", Vec::new()),
            Kind::Check(_) => ("check", Vec::new()),
            Kind::Derive(derive) => ("derive", derive.fields),
        };
        let fields = fields.into_iter().map(|(name, _)| OutlineItem {
            name: name.text,
            kind: "",
            place: name.span,
            fields: Vec::new(),
        });
        let fields = fields.collect();
        OutlineItem { name: declaration.name.text, kind, place: declaration.name.span, fields }
    });
    outlined.collect()
}
