//! The outline of a document.

use crate::text::Lines;
use lsp_types::{DocumentSymbol, SymbolKind};
use oasis_pdl::{
    Span,
    ast::{Declaration, Metric, Name},
    parse,
};

/// Declarations and their members, in the order of the text, without includes.
pub fn symbols(text: &str) -> Vec<DocumentSymbol> {
    let (file, _) = parse("outline".as_ref(), text);
    Outline { lines: Lines::new(text) }.declarations(&file.declarations)
}

struct Outline<'a> {
    lines: Lines<'a>,
}

impl Outline<'_> {
    fn declarations(&self, declarations: &[Declaration]) -> Vec<DocumentSymbol> {
        declarations.iter().map(|declaration| self.declaration(declaration)).collect()
    }

    fn declaration(&self, declaration: &Declaration) -> DocumentSymbol {
        match declaration {
            Declaration::Module(module) => {
                let inner = self.declarations(&module.declarations);
                self.symbol(&module.name, module.extent, SymbolKind::MODULE, inner)
            }
            Declaration::Struct(declared) => {
                let members = self.metrics(&declared.members);
                self.symbol(&declared.name, declared.extent, SymbolKind::STRUCT, members)
            }
            Declaration::Enum(declared) => {
                let values = declared.enumerators.iter().map(|value| &value.name);
                let values =
                    values.map(|name| self.symbol(name, name.span, SymbolKind::ENUM_MEMBER, Vec::new()));
                self.symbol(&declared.name, declared.extent, SymbolKind::ENUM, values.collect())
            }
            Declaration::Probe(probe) => {
                let kind = if probe.is_abstract { SymbolKind::INTERFACE } else { SymbolKind::CLASS };
                self.symbol(&probe.name, probe.extent, kind, self.metrics(&probe.metrics))
            }
        }
    }

    fn metrics(&self, metrics: &[Metric]) -> Vec<DocumentSymbol> {
        let names = metrics.iter().map(|metric| &metric.name);
        names.map(|name| self.symbol(name, name.span, SymbolKind::FIELD, Vec::new())).collect()
    }

    #[expect(deprecated, reason = "the struct cannot be made without its deprecated field")]
    fn symbol(
        &self,
        name: &Name,
        extent: Span,
        kind: SymbolKind,
        inner: Vec<DocumentSymbol>,
    ) -> DocumentSymbol {
        DocumentSymbol {
            name: name.text.clone(),
            detail: None,
            kind,
            tags: None,
            deprecated: None,
            range: self.lines.range(extent),
            selection_range: self.lines.range(name.span),
            children: (!inner.is_empty()).then_some(inner),
        }
    }
}
