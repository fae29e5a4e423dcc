//! The values that the templates render.

use super::{
    layout::{INDENT, Layout, WIDTH, alias, blanks},
    names::Types,
    text::{comment, literal, property},
    value::Values,
};
use crate::json_schema;
use oasis_pdl::{
    Model,
    model::{self, Metric, Probe},
};
use serde::Serialize;

/// A file.
#[derive(Serialize)]
pub struct Module {
    from: String,
    /// Whether a member has this name: Biome treats objects with it as promises.
    has_then: bool,
    imports: Vec<&'static str>,
    enums: Vec<Enum>,
    types: Vec<Interface>,
}

#[derive(Serialize)]
struct Enum {
    name: String,
    doc: String,
    values: Vec<Enumerator>,
    alias: String,
}

#[derive(Serialize)]
struct Enumerator {
    name: String,
    number: i64,
    doc: String,
}

/// An interface and its codec.
#[derive(Serialize)]
struct Interface {
    name: String,
    doc: String,
    /// Stands for an interface without fields.
    alias: String,
    is_probe: bool,
    /// The line with the brace that opens the codec, or the brace alone.
    open: String,
    /// The indentation of all other lines of the codec.
    pad: String,
    /// Properties that do not depend on a sample.
    constants: Vec<String>,
    fields: Vec<Field>,
}

#[derive(Serialize)]
struct Field {
    name: String,
    doc: String,
    declaration: String,
    initial: String,
    write: String,
    read: String,
}

/// All that a model declares.
pub fn module(model: &Model, from: &str) -> Module {
    let names = Types::new(model);
    let values = Values { model, types: &names };
    let enums: Vec<Enum> = model.enums.iter().map(|declared| enumeration(declared, &names)).collect();
    let structs = model.structs.iter().map(|declared| {
        let source = Source { sort: "struct", name: &declared.name, doc: declared.doc.as_deref() };
        interface(&values, &source, &declared.members, None)
    });
    let probes = model.probes.iter().filter(|probe| !probe.is_abstract).map(|probe| {
        let source = Source { sort: "probe", name: &probe.name, doc: probe.doc.as_deref() };
        interface(&values, &source, &probe.metrics, Some(probe))
    });
    let types: Vec<Interface> = structs.chain(probes).collect();
    let imports = [
        ("EnumeratorOf", !enums.is_empty()),
        (PROBE, types.iter().any(|interface| interface.is_probe)),
        (STRUCT, types.iter().any(|interface| !interface.is_probe)),
    ];
    let imports = imports.into_iter().filter(|(_, is_used)| *is_used).map(|(name, _)| name).collect();
    Module { from: from.to_owned(), has_then: has_then(&enums, &types), imports, enums, types }
}

fn has_then(enums: &[Enum], types: &[Interface]) -> bool {
    let values = enums.iter().flat_map(|declared| &declared.values).map(|value| &value.name);
    let fields = types.iter().flat_map(|interface| &interface.fields).map(|field| &field.name);
    values.chain(fields).any(|name| name == "then")
}

const PROBE: &str = "ProbeCodec";
const STRUCT: &str = "StructCodec";

/// The documentation of a declaration.
struct Source<'a> {
    sort: &'a str,
    name: &'a str,
    doc: Option<&'a str>,
}

impl Source<'_> {
    /// Without documentation, the PDL name if TypeScript's name differs.
    fn comment(&self) -> String {
        let doc = self.doc.filter(|doc| !doc.trim().is_empty()).map(String::from);
        comment(&doc.unwrap_or_else(|| format!("PDL {} `{}`.", self.sort, self.name)), 0)
    }
}

fn enumeration(declared: &model::Enum, types: &Types) -> Enum {
    let value = |value: &model::Enumerator| Enumerator {
        name: value.name.clone(),
        number: value.value,
        doc: comment(value.doc.as_deref().unwrap_or_default(), INDENT),
    };
    let name = types.named(&declared.name);
    Enum {
        name: name.to_owned(),
        doc: Source { sort: "enum", name: &declared.name, doc: declared.doc.as_deref() }.comment(),
        values: declared.enumerators.iter().map(value).collect(),
        alias: alias(name, "EnumeratorOf", &[&format!("typeof {name}")]),
    }
}

fn interface(
    values: &Values<'_>,
    source: &Source<'_>,
    metrics: &[Metric],
    probe: Option<&Probe>,
) -> Interface {
    let name = values.types.named(source.name);
    let codec = if probe.is_some() { PROBE } else { STRUCT };
    let head = format!("export const {name}: {codec}<{name}> =");
    let is_long = head.len() + " {".len() > WIDTH;
    let (open, indent) = if is_long { (format!("{head}\n  {{"), INDENT) } else { (format!("{head} {{"), 0) };
    let mut constants = vec![Layout::word(literal(source.name)).property(indent + INDENT, "name")];
    constants
        .extend(probe.and_then(|probe| identity(values.model, probe, indent + INDENT)).into_iter().flatten());
    Interface {
        name: name.to_owned(),
        doc: source.comment(),
        alias: alias(name, "Record", &["string", "never"]),
        is_probe: probe.is_some(),
        open,
        pad: blanks(indent),
        constants,
        fields: metrics.iter().map(|metric| field(values, source.name, metric, indent)).collect(),
    }
}

fn field(values: &Values<'_>, scoped: &str, metric: &Metric, indent: usize) -> Field {
    let name = &metric.name;
    let (in_method, in_object) = (indent + 2 * INDENT, indent + 3 * INDENT);
    let (value, path) = (format!("value.{name}"), format!("{scoped}.{name}"));
    Field {
        name: name.clone(),
        doc: comment(&metric_doc(metric), INDENT),
        declaration: format!("{}{name}: {};", blanks(INDENT), values.annotation(&metric.kind)),
        initial: values.initial(&metric.kind).property(in_object, name),
        write: values.write(&metric.kind, &value, &path, in_method, 0),
        read: values.read(&metric.kind).property(in_object, name),
    }
}

fn metric_doc(metric: &Metric) -> String {
    let doc = metric.doc.as_ref().map(|doc| doc.trim_end().to_owned());
    let unit = metric.unit.as_ref().map(|unit| format!("Unit: `{unit}`."));
    let texts: Vec<String> = doc.into_iter().chain(unit).collect();
    texts.join(" ")
}

/// The properties of a probe that a struct lacks.
fn identity(model: &Model, probe: &Probe, indent: usize) -> Option<[String; 3]> {
    let schema = json_schema::schema(model, probe)?;
    let json = serde_json::to_string(&schema).ok()?;
    let short = |key, text: &str| Layout::word(literal(text)).property(indent, key);
    Some([
        short("uuid", &schema.uuid.to_string()),
        short("version", &schema.version),
        property("schema", &json, indent),
    ])
}
