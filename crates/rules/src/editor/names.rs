//! Names that a text can use: probe types and instances around it, and its own inputs and derived instances.

use crate::lexer::Token;
use oasis_wire::schema::{Metric, MetricType, ProbeType};
use std::sync::Arc;

/// An instance that inputs can match.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct KnownInstance {
    /// Its node.
    pub node: String,
    /// Its name.
    pub instance: String,
    /// Scoped name of its probe type.
    pub probe_type: String,
}

/// The probe types and instances that an editor knows.
#[derive(Debug, Clone, Default)]
pub struct EditorCatalog {
    /// Probe types; of several with one name the last one counts.
    pub types: Vec<Arc<ProbeType>>,
    /// Instances.
    pub instances: Vec<KnownInstance>,
}

impl EditorCatalog {
    pub(super) fn type_named(&self, name: &str) -> Option<&Arc<ProbeType>> {
        self.types.iter().rev().find(|known| known.name == name)
    }
}

/// A token and its text.
pub type TokenText<'a> = (Token, &'a str);

/// The declarations of a text that have values.
#[derive(Debug, Default)]
pub struct DeclaredNames<'a> {
    /// Names of inputs, their patterns and types.
    pub inputs: Vec<(&'a str, &'a str, String)>,
    /// Names of derived instances, and those of their fields.
    pub derived: Vec<(&'a str, Vec<&'a str>)>,
}

impl<'a> DeclaredNames<'a> {
    /// Finds them in tokens without comments.
    pub fn of(pieces: &[TokenText<'a>]) -> Self {
        let mut declared = Self::default();
        for at in 0..pieces.len() {
            match &pieces[at..] {
                [
                    (Token::Name, "input"),
                    (Token::Name, name),
                    (Token::Assign, _),
                    (Token::Text, pattern),
                    (Token::Colon, _),
                    rest @ ..,
                ] => {
                    let is_type = |token: &Token| matches!(token, Token::Name | Token::Scope | Token::Text);
                    let path = rest.iter().take_while(|(token, _)| is_type(token));
                    let probe_type = path.map(|(_, text)| text.trim_matches('"')).collect();
                    declared.inputs.push((name, pattern.trim_matches('"'), probe_type));
                }
                [(Token::Name, "derive"), (Token::Name, name), (Token::Name, "every"), rest @ ..] => {
                    declared.derived.push((name, fields(rest)));
                }
                _ => {}
            }
        }
        declared
    }

    /// The metrics of an input's type, or those of a struct in it.
    pub fn metrics<'s>(&self, path: &[&str], around: &'s EditorCatalog) -> Option<&'s [Metric]> {
        let (first, members) = path.split_first()?;
        let (_, _, probe_type) = self.inputs.iter().find(|(name, ..)| name == first)?;
        let mut metrics: &[Metric] = &around.type_named(probe_type)?.metrics;
        for member in members {
            let found = metrics.iter().find(|metric| metric.name == *member)?;
            let MetricType::Struct(of) = &found.kind else { return None };
            metrics = &of.members;
        }
        Some(metrics)
    }

    /// The metric that a path names.
    pub fn metric<'s>(&self, path: &[&str], around: &'s EditorCatalog) -> Option<&'s Metric> {
        let (last, before) = path.split_last()?;
        self.metrics(before, around)?.iter().find(|metric| metric.name == *last)
    }
}

/// The fields of a derived instance, whose block follows.
fn fields<'a>(pieces: &[TokenText<'a>]) -> Vec<&'a str> {
    let block = pieces.iter().skip_while(|(token, _)| *token != Token::BraceOpen);
    let block: Vec<_> = block.take_while(|(token, _)| *token != Token::BraceClose).collect();
    let field = |three: &[&TokenText<'a>]| match three {
        [(Token::BraceOpen | Token::Semicolon, _), (Token::Name, name), (Token::Assign, _)] => Some(*name),
        _ => None,
    };
    block.windows(3).filter_map(field).collect()
}

/// A metric in a line: `real64, Cel: Temperature`.
pub fn described(metric: &Metric) -> String {
    let mut text = type_name(metric);
    if let Some(unit) = &metric.unit {
        text += &format!(", {unit}");
    }
    if let Some(label) = &metric.label {
        text += &format!(": {label}");
    }
    text
}

fn type_name(metric: &Metric) -> String {
    if let Some(enumeration) = &metric.enumeration {
        return enumeration.name.clone();
    }
    match &metric.kind {
        MetricType::Int8 => "int8".into(),
        MetricType::Int16 => "int16".into(),
        MetricType::Int32 => "int32".into(),
        MetricType::Int64 => "int64".into(),
        MetricType::Uint8 => "uint8".into(),
        MetricType::Uint16 => "uint16".into(),
        MetricType::Uint32 => "uint32".into(),
        MetricType::Uint64 => "uint64".into(),
        MetricType::Real32 => "real32".into(),
        MetricType::Real64 => "real64".into(),
        MetricType::Boolean => "boolean".into(),
        MetricType::String => "text, which rules do not read".into(),
        MetricType::Vector(_) => "a vector, which rules do not read".into(),
        MetricType::Struct(of) => of.name.clone(),
        MetricType::Blob(_) => "an image, which rules do not read".into(),
    }
}
