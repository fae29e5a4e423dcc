//! The values that the templates render.

use super::names::{SAMPLE, declared, enumerators, members, path};
use crate::{
    cpp::layout::comment,
    names::{last, split},
    order::{Declaration, in_order},
};
use oasis_pdl::{
    Model,
    model::{self, Metric, Primitive, Type},
};
use serde::Serialize;

/// A file.
#[derive(Serialize)]
pub struct File {
    from: String,
    blocks: Vec<Block>,
}

/// Declarations of one module that follow each other.
#[derive(Serialize)]
struct Block {
    /// From the outermost on.
    modules: Vec<String>,
    items: Vec<Item>,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Item {
    Enum(Enum),
    Struct(Struct),
}

#[derive(Serialize)]
struct Enum {
    docs: Vec<String>,
    name: String,
    /// The integer type that carries it, if IDL has no enum of these numbers.
    integer: Option<&'static str>,
    bits: usize,
    values: Vec<Enumerator>,
}

#[derive(Serialize)]
struct Enumerator {
    docs: Vec<String>,
    name: String,
    number: i64,
}

#[derive(Serialize)]
struct Struct {
    docs: Vec<String>,
    name: String,
    members: Vec<Member>,
    sample: Option<Sample>,
}

#[derive(Serialize)]
struct Member {
    docs: Vec<String>,
    /// Before the type.
    annotations: String,
    kind: String,
    name: String,
}

/// The type of a probe's topic.
#[derive(Serialize)]
struct Sample {
    topic: String,
    name: String,
    /// None of a probe without metrics.
    metrics: Option<String>,
}

/// All that a model declares, but for structs without members.
pub fn file(model: &Model, from: &str) -> File {
    let mut blocks: Vec<(&str, Block)> = Vec::new();
    for declaration in in_order(model) {
        let is_unused = matches!(declaration, Declaration::Struct(known) if known.members.is_empty());
        if is_unused {
            continue;
        }
        let (scope, _) = split(declaration.name());
        if blocks.last().is_none_or(|(last, _)| *last != scope) {
            let modules = scope.split("::").filter(|module| !module.is_empty()).map(declared).collect();
            blocks.push((scope, Block { modules, items: Vec::new() }));
        }
        if let Some((_, block)) = blocks.last_mut() {
            block.items.push(item(declaration));
        }
    }
    File { from: from.to_owned(), blocks: blocks.into_iter().map(|(_, block)| block).collect() }
}

fn item(declaration: Declaration<'_>) -> Item {
    match declaration {
        Declaration::Enum(known) => Item::Enum(enumeration(known)),
        Declaration::Struct(known) => Item::Struct(structure(&known.name, &known.doc, &known.members)),
        Declaration::Probe(probe) => {
            let sample = Sample {
                topic: probe.name.replace("::", "/"),
                name: format!("{}{SAMPLE}", last(&probe.name)),
                metrics: (!probe.metrics.is_empty()).then(|| path(&probe.name)),
            };
            Item::Struct(Struct {
                sample: Some(sample),
                ..structure(&probe.name, &probe.doc, &probe.metrics)
            })
        }
    }
}

fn enumeration(known: &model::Enum) -> Enum {
    let bits = known.base.row().bytes.unwrap_or(1) * 8;
    // An IDL enum is unsigned, and C carries it in an int.
    let largest = ((1_i64 << bits) - 1).min(i32::MAX.into());
    let is_plain = known.enumerators.iter().all(|value| (0..=largest).contains(&value.value));
    let names = enumerators(&known.name, known.enumerators.iter().map(|value| value.name.as_str()));
    let value = |(value, name): (&model::Enumerator, String)| Enumerator {
        docs: docs(value.doc.as_deref(), 2),
        name,
        number: value.value,
    };
    Enum {
        docs: docs(known.doc.as_deref(), 0),
        name: declared(&known.name),
        integer: (!is_plain).then(|| primitive(known.base)),
        bits,
        values: known.enumerators.iter().zip(names).map(value).collect(),
    }
}

fn structure(scoped: &str, doc: &Option<String>, metrics: &[Metric]) -> Struct {
    let names = members(scoped, metrics.iter().map(|metric| metric.name.as_str()));
    let member = |(metric, name): (&Metric, String)| Member {
        docs: docs(metric.doc.as_deref(), 2),
        annotations: metric
            .unit
            .as_ref()
            .map_or_else(String::new, |unit| format!("@unit({}) ", literal(unit))),
        kind: kind(&metric.kind),
        name,
    };
    Struct {
        docs: docs(doc.as_deref(), 0),
        name: declared(scoped),
        members: metrics.iter().zip(names).map(member).collect(),
        sample: None,
    }
}

fn kind(kind_of: &Type) -> String {
    match kind_of {
        Type::Primitive(simple) => primitive(*simple).to_owned(),
        Type::Struct(name) | Type::Enum(name) => path(name),
        // CDR of it is that of a list of bytes; readers take the media type from the name or the schema.
        Type::Blob(of) => format!("sequence<octet, {}>", of.max_bytes),
        Type::Vector(element) => {
            let element = kind(element);
            // Two closing brackets side by side would be one symbol.
            let blank = if element.ends_with('>') { " " } else { "" };
            format!("sequence<{element}{blank}>")
        }
    }
}

fn primitive(primitive: Primitive) -> &'static str {
    match primitive {
        Primitive::Real32 => "float",
        Primitive::Real64 => "double",
        Primitive::Int8
        | Primitive::Int16
        | Primitive::Int32
        | Primitive::Int64
        | Primitive::Uint8
        | Primitive::Uint16
        | Primitive::Uint32
        | Primitive::Uint64
        | Primitive::Boolean
        | Primitive::String => primitive.name(),
    }
}

fn docs(doc: Option<&str>, indent: usize) -> Vec<String> {
    comment(doc.unwrap_or_default(), indent)
}

fn literal(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
