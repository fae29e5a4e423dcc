//! Completions at a place.

use super::{
    context::{ExpectedWord, context},
    workspace::View,
};
use lsp_types::{CompletionItem, CompletionItemKind, Position};
use oasis_pdl::{
    Model,
    ast::DECLARATIONS,
    model::{Behavior, Primitive},
    unit_symbols,
};
use std::collections::BTreeMap;

/// Common units.
const COMMON_UNITS: [&str; 17] = [
    "1", "ms", "us", "ns", "kHz", "MHz", "GHz", "kBy", "MBy", "KiBy", "MiBy", "GiBy", "km", "mm", "kg",
    "{packet}", "1/min",
];

/// Returns the completions at a position; the editor filters them by the typed prefix.
pub fn completion(view: &View<'_>, position: Position) -> Vec<CompletionItem> {
    let context = context(view.text, view.offset(position));
    let known = Names { model: &view.report.model, scope: &context.scope };
    match context.wanted {
        ExpectedWord::Nothing => Vec::new(),
        ExpectedWord::Directive => words(["include", "pragma"], CompletionItemKind::KEYWORD),
        ExpectedWord::Declaration => words(DECLARATIONS, CompletionItemKind::KEYWORD),
        ExpectedWord::Attribute(names) => words(names.iter().copied(), CompletionItemKind::PROPERTY),
        ExpectedWord::Unit { is_quoted } => units(is_quoted),
        ExpectedWord::Kind => words(Behavior::ALL.map(|(name, _)| name), CompletionItemKind::VALUE),
        ExpectedWord::Enumerator(path) => known.enumerators(&path),
        ExpectedWord::Type => {
            let names = Primitive::ALL.iter().map(|primitive| primitive.name()).chain(["vector", "blob"]);
            let mut items = words(names, CompletionItemKind::KEYWORD);
            items.extend(known.all(false));
            items
        }
        ExpectedWord::Base => known.all(true),
        ExpectedWord::Carrier => {
            let carriers = Primitive::ALL.iter().filter(|primitive| primitive.can_carry_enum());
            words(carriers.map(|primitive| primitive.name()), CompletionItemKind::KEYWORD)
        }
        ExpectedWord::Within { path, is_base } => known.within(&path, is_base),
    }
}

fn words(words: impl IntoIterator<Item = &'static str>, kind: CompletionItemKind) -> Vec<CompletionItem> {
    words.into_iter().map(|word| item(word.to_owned(), kind, None)).collect()
}

fn item(label: String, kind: CompletionItemKind, doc: Option<&str>) -> CompletionItem {
    let documentation = doc.map(|doc| lsp_types::Documentation::String(doc.to_owned()));
    CompletionItem { label, kind: Some(kind), documentation, ..CompletionItem::default() }
}

fn units(is_quoted: bool) -> Vec<CompletionItem> {
    let units = COMMON_UNITS.into_iter().chain(unit_symbols());
    let written = |unit: &str| if is_quoted { unit.to_owned() } else { format!("\"{unit}\"") };
    units.map(|unit| item(written(unit), CompletionItemKind::UNIT, None)).collect()
}

/// Declared names, as they can be written inside of a scope.
struct Names<'a> {
    model: &'a Model,
    scope: &'a str,
}

/// A declared name, its kind and its documentation.
type KnownName<'a> = (&'a str, CompletionItemKind, Option<&'a str>);

impl<'a> Names<'a> {
    fn known(&self, is_base: bool) -> Vec<KnownName<'a>> {
        if is_base {
            let probes = self.model.probes.iter();
            return probes
                .map(|known| (known.name.as_str(), CompletionItemKind::CLASS, known.doc.as_deref()))
                .collect();
        }
        let structs = self.model.structs.iter();
        let structs =
            structs.map(|known| (known.name.as_str(), CompletionItemKind::STRUCT, known.doc.as_deref()));
        let enums = self.model.enums.iter();
        let enums = enums.map(|known| (known.name.as_str(), CompletionItemKind::ENUM, known.doc.as_deref()));
        structs.chain(enums).collect()
    }

    fn all(&self, is_base: bool) -> Vec<CompletionItem> {
        let known = self.known(is_base).into_iter();
        known.map(|(name, kind, doc)| item(self.written(name), kind, doc)).collect()
    }

    /// Returns the shortest form: without the modules around the cursor, unless that would name another declaration.
    fn written(&self, scoped: &str) -> String {
        for scope in scopes(self.scope) {
            if let Some(short) = inside(scoped, scope) {
                let meant = self.find(short, |name| self.is_declared(name));
                return if meant.as_deref() == Some(scoped) {
                    short.to_owned()
                } else {
                    format!("::{scoped}")
                };
            }
        }
        scoped.to_owned()
    }

    fn is_declared(&self, scoped: &str) -> bool {
        let model = self.model;
        model.struct_named(scoped).is_some()
            || model.enum_named(scoped).is_some()
            || model.probe_named(scoped).is_some()
    }

    /// Looks up a path by the rules of the compiler.
    fn find(&self, path: &str, exists: impl Fn(&str) -> bool) -> Option<String> {
        if let Some(rooted) = path.strip_prefix("::") {
            return exists(rooted).then(|| rooted.to_owned());
        }
        scopes(self.scope).map(|scope| join(scope, path)).find(|candidate| exists(candidate))
    }

    fn enumerators(&self, path: &str) -> Vec<CompletionItem> {
        let found = self.find(path, |name| self.model.enum_named(name).is_some());
        let declared = found.and_then(|name| self.model.enum_named(&name));
        let values = declared.into_iter().flat_map(|declared| &declared.enumerators);
        let kind = CompletionItemKind::ENUM_MEMBER;
        values.map(|value| item(value.name.clone(), kind, value.doc.as_deref())).collect()
    }

    /// Names of a module, and of the modules in it.
    fn within(&self, path: &str, is_base: bool) -> Vec<CompletionItem> {
        let known = self.known(is_base);
        let is_module = |scope: &str| known.iter().any(|(name, ..)| inside(name, scope).is_some());
        let module = if path.is_empty() { Some(String::new()) } else { self.find(path, is_module) };
        let Some(module) = module else { return Vec::new() };
        let mut items = BTreeMap::new();
        for (name, kind, doc) in &known {
            let Some(rest) = inside(name, &module) else { continue };
            let (label, kind, doc) = match rest.split_once("::") {
                Some((inner, _)) => (inner, CompletionItemKind::MODULE, None),
                None => (rest, *kind, *doc),
            };
            items.entry(label).or_insert_with(|| item(label.to_owned(), kind, doc));
        }
        items.into_values().collect()
    }
}

/// A scope and those around it, the root last.
fn scopes(scope: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(scope), |scope: &&str| {
        let outer = scope.rsplit_once("::").map_or("", |(outer, _)| outer);
        (!scope.is_empty()).then_some(outer)
    })
}

fn join(scope: &str, path: &str) -> String {
    if scope.is_empty() { path.to_owned() } else { format!("{scope}::{path}") }
}

/// Returns the part of a name inside a scope.
fn inside<'a>(name: &'a str, scope: &str) -> Option<&'a str> {
    if scope.is_empty() { Some(name) } else { name.strip_prefix(scope)?.strip_prefix("::") }
}
