//! Descriptions of the item at a place, in words.

use super::{
    completion::FUNCTIONS,
    names::{DeclaredNames, EditorCatalog, described},
};
use crate::{ast::Kind, compile, lexer::Token};
use logos::Logos;
use oasis_wire::schema::{Metric, Threshold};
use std::{ops::Range, path::Path};

/// Most instances that are named.
const MAX_NAMED_INSTANCES: usize = 10;

/// A description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hover {
    /// The bytes that it is about.
    pub range: Range<usize>,
    /// Markdown.
    pub text: String,
}

/// Describes what stands at a byte of a text: a declaration with its bound of memory, a metric with its unit, or a function.
pub fn hover(text: &str, offset: usize, around: &EditorCatalog) -> Option<Hover> {
    let tokens: Vec<_> = Token::lexer(text)
        .spanned()
        .filter_map(|(token, range)| Some((token.ok()?, range)))
        .filter(|(token, _)| !token.is_comment())
        .collect();
    let at = tokens
        .iter()
        .position(|(token, range)| *token == Token::Name && range.start <= offset && offset <= range.end)?;
    let pieces: Vec<_> =
        tokens.iter().filter_map(|(token, range)| Some((*token, text.get(range.clone())?))).collect();
    let (range, name) = (tokens.get(at)?.1.clone(), pieces.get(at)?.1);
    let declared = DeclaredNames::of(&pieces);
    let mut path = vec![name];
    let mut first = at;
    while let Some(before) = first.checked_sub(2)
        && let [(Token::Name, member), (Token::Dot, _)] = &pieces[before..first]
    {
        path.insert(0, member);
        first = before;
    }
    let is_member = path.len() > 1;
    let description = if is_member {
        declared.metric(&path, around).map(|metric| of_metric(&path.join("."), metric))
    } else {
        of_declaration(text, name, around).or_else(|| {
            of_function(name, pieces.get(at + 1).is_some_and(|(token, _)| *token == Token::ParenOpen))
        })
    };
    Some(Hover { range, text: description? })
}

fn of_declaration(text: &str, name: &str, around: &EditorCatalog) -> Option<String> {
    let report = compile(Path::new("hover"), text, &around.types);
    let declaration = report.declarations.iter().find(|declaration| declaration.name.text == name)?;
    let description = report.declaration(declaration);
    let mut lines = description.lines();
    let title = lines.next()?;
    let mut described =
        format!("```rules\n{title}\n```\n\n{}", lines.map(str::trim).collect::<Vec<_>>().join("\n\n"));
    if let Kind::Input(input) = &declaration.kind {
        let matching = around.instances.iter().filter(|known| {
            let name = format!("{}/{}", known.node, known.instance);
            known.probe_type == input.probe_type.text
                && oasis_wire::pattern::matches(&input.pattern.text, &name)
        });
        let names: Vec<_> = matching.map(|known| format!("`{}/{}`", known.node, known.instance)).collect();
        if !around.instances.is_empty() {
            let more = if names.len() > MAX_NAMED_INSTANCES { ", …" } else { "" };
            let shown = names.iter().take(MAX_NAMED_INSTANCES).cloned().collect::<Vec<_>>().join(", ");
            described += &format!("\n\nMatches {} now: {shown}{more}", counted(names.len()));
        }
    }
    Some(described)
}

/// `1 instance`
fn counted(number: usize) -> String {
    format!("{number} instance{}", if number == 1 { "" } else { "s" })
}

fn of_function(name: &str, is_call: bool) -> Option<String> {
    let (_, usage, meaning) = FUNCTIONS.into_iter().find(|(known, ..)| *known == name && is_call)?;
    Some(format!("```rules\n{usage}\n```\n\n{meaning}"))
}

fn of_metric(path: &str, metric: &Metric) -> String {
    let mut text = format!("```rules\n{path}\n```\n\n{}", described(metric));
    if let Some(doc) = &metric.doc {
        text += &format!("\n\n{doc}");
    }
    if let Some(enumeration) = &metric.enumeration {
        let names: Vec<_> = enumeration.values.iter().map(|value| &*value.name).collect();
        text += &format!("\n\n{}", names.join(", "));
    }
    let number = |name: &str, value: &Option<_>| {
        value.as_ref().map(|value: &serde_json::Number| format!("{name} {value}"))
    };
    let threshold = |name: &str, of: &Option<Threshold>| {
        let of = of.as_ref()?;
        let parts = [number("below", &of.below), number("above", &of.above)];
        let values = of.values.iter().map(|value| format!("at {value}"));
        let parts: Vec<_> = parts.into_iter().flatten().chain(values).collect();
        (!parts.is_empty()).then(|| format!("{name} {}", parts.join(" and ")))
    };
    let limits = [
        threshold("warning", &metric.warn),
        threshold("alarm", &metric.alarm),
        number("at least", &metric.min),
        number("at most", &metric.max),
    ];
    let limits: Vec<_> = limits.into_iter().flatten().collect();
    if !limits.is_empty() {
        text += &format!("\n\nLimits: {}", limits.join(", "));
    }
    text
}
