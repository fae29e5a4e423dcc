//! The values that the templates render.

use super::names::{Names, VECTOR, element, members};
use crate::{
    cpp::{layout::comment, view::metric_docs},
    json_schema,
    order::{Declaration, in_order},
    text::pieces,
};
use oasis_pdl::{
    Model,
    model::{self, Metric, Probe, Type},
};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Characters of one line of a schema.
pub const SCHEMA_LINE: usize = 90;

/// Bytes of a text that every C compiler takes without a warning (C11 5.2.4.1).
pub const TEXT: usize = 4_095;

/// A file.
#[derive(Serialize)]
pub struct Header {
    from: String,
    /// Vectors in vectors of simple types, which other headers may have as well.
    vectors: Vec<Vector>,
    declarations: Vec<Item>,
}

/// A type for several of a kind.
#[derive(Serialize)]
struct Vector {
    name: String,
    of: String,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Item {
    Enum(Enum),
    Struct(Box<Struct>),
}

#[derive(Serialize)]
struct Enum {
    docs: Vec<String>,
    name: String,
    base: &'static str,
    values: Vec<Enumerator>,
    vectors: Vec<Vector>,
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
    put: String,
    members: Vec<Member>,
    /// Statements that write a value.
    statements: Vec<String>,
    identity: Option<Identity>,
    vectors: Vec<Vector>,
}

/// The properties of a probe that a struct lacks.
#[derive(Serialize)]
struct Identity {
    row: String,
    schema: String,
    lines: Vec<String>,
    is_long: bool,
}

#[derive(Serialize)]
struct Member {
    docs: Vec<String>,
    kind: String,
    name: String,
}

/// All that a model declares.
pub fn header(model: &Model, from: &str) -> Header {
    let declarations = in_order(model);
    let (depths, nested) = vectors_of(&declarations);
    let names = Names::new(
        &declarations,
        |scoped| depths.get(scoped).copied().unwrap_or(0),
        &["_put", "_row", "_schema"],
    );
    let making = Builder { model, names, depths };
    let vectors = nested.into_iter().map(|(simple, depth)| Vector {
        name: format!("oasis_{simple}{}", VECTOR.repeat(depth)),
        of: format!("oasis_{simple}{}", VECTOR.repeat(depth - 1)),
    });
    Header {
        from: from.to_owned(),
        vectors: vectors.collect(),
        declarations: declarations.iter().map(|declaration| making.item(*declaration)).collect(),
    }
}

/// Returns the largest number of vectors around each type, and the simple types that are in two or more.
fn vectors_of<'a>(
    declarations: &[Declaration<'a>],
) -> (BTreeMap<&'a str, usize>, BTreeSet<(&'static str, usize)>) {
    let (mut depths, mut nested) = (BTreeMap::new(), BTreeSet::new());
    for metric in declarations.iter().flat_map(|declaration| declaration.metrics()) {
        match element(&metric.kind) {
            (Type::Primitive(primitive), depth) => {
                nested.extend((2..=depth).map(|depth| (primitive.name(), depth)))
            }
            (Type::Struct(name) | Type::Enum(name), depth) => {
                let most = depths.entry(name.as_str()).or_default();
                *most = depth.max(*most);
            }
            (Type::Vector(_) | Type::Blob(_), _) => {}
        }
    }
    (depths, nested)
}

struct Builder<'a> {
    model: &'a Model,
    names: Names,
    depths: BTreeMap<&'a str, usize>,
}

impl Builder<'_> {
    fn item(&self, declaration: Declaration<'_>) -> Item {
        match declaration {
            Declaration::Enum(declared) => Item::Enum(self.enumeration(declared)),
            Declaration::Struct(declared) => {
                let structure = self.structure(&declared.name, declared.doc.as_deref(), &declared.members);
                Item::Struct(Box::new(structure))
            }
            Declaration::Probe(probe) => {
                let structure = self.structure(&probe.name, probe.doc.as_deref(), &probe.metrics);
                Item::Struct(Box::new(Struct { identity: self.identity(probe), ..structure }))
            }
        }
    }

    fn enumeration(&self, declared: &model::Enum) -> Enum {
        let value = |value: &model::Enumerator| Enumerator {
            docs: comment(value.doc.as_deref().unwrap_or_default(), 2),
            name: self.names.part(&declared.name, &format!("_{}", value.name)).to_owned(),
            number: value.value,
        };
        Enum {
            docs: comment(declared.doc.as_deref().unwrap_or_default(), 0),
            name: self.names.of(&declared.name).to_owned(),
            base: declared.base.row().c,
            values: declared.enumerators.iter().map(value).collect(),
            vectors: self.vectors(&declared.name),
        }
    }

    fn structure(&self, scoped: &str, docs: Option<&str>, metrics: &[Metric]) -> Struct {
        let spelled = members(metrics.iter().map(|metric| metric.name.as_str()));
        let member = |(metric, name): (&Metric, &String)| Member {
            docs: comment(&metric_docs(metric), 2),
            kind: self.names.kind(&metric.kind),
            name: name.clone(),
        };
        let mut statements = Vec::new();
        for (metric, name) in metrics.iter().zip(&spelled) {
            self.put(&metric.kind, &format!("value->{name}"), 0, &mut statements);
        }
        Struct {
            docs: comment(docs.unwrap_or_default(), 0),
            name: self.names.of(scoped).to_owned(),
            put: self.names.part(scoped, "_put").to_owned(),
            members: metrics.iter().zip(&spelled).map(member).collect(),
            statements,
            identity: None,
            vectors: self.vectors(scoped),
        }
    }

    /// Statements that write the value at a place.
    fn put(&self, kind: &Type, place: &str, depth: usize, out: &mut Vec<String>) {
        let indent = "  ".repeat(depth + 1);
        match kind {
            Type::Primitive(primitive) => {
                out.push(format!("{indent}oasis_put_{}(row, {place});", primitive.name()))
            }
            Type::Enum(name) => {
                out.push(format!("{indent}oasis_put_{}(row, {place});", self.model.base_of(name).name()));
            }
            Type::Struct(name) => {
                out.push(format!("{indent}{}(row, &{place});", self.names.part(name, "_put")));
            }
            Type::Blob(_) => {
                out.push(format!("{indent}oasis_put_length(row, {place}.count);"));
                out.push(format!("{indent}oasis_put_bytes(row, {place}.items, {place}.count);"));
            }
            Type::Vector(of) => {
                let index = format!("i{depth}");
                out.push(format!("{indent}oasis_put_length(row, {place}.count);"));
                out.push(format!("{indent}for (size_t {index} = 0; {index} < {place}.count; ++{index}) {{"));
                self.put(of, &format!("{place}.items[{index}]"), depth + 1, out);
                out.push(format!("{indent}}}"));
            }
        }
    }

    fn vectors(&self, scoped: &str) -> Vec<Vector> {
        let depth = self.depths.get(scoped).copied().unwrap_or(0);
        let name = |depth: usize| self.names.part(scoped, &VECTOR.repeat(depth)).to_owned();
        (1..=depth).map(|depth| Vector { name: name(depth), of: name(depth - 1) }).collect()
    }

    fn identity(&self, probe: &Probe) -> Option<Identity> {
        let schema = serde_json::to_string(&json_schema::schema(self.model, probe)?).ok()?;
        Some(Identity {
            row: self.names.part(&probe.name, "_row").to_owned(),
            schema: self.names.part(&probe.name, "_schema").to_owned(),
            lines: pieces(&schema, SCHEMA_LINE).iter().map(|piece| literal(piece)).collect(),
            is_long: schema.len() > TEXT,
        })
    }
}

/// A text as C writes it. A question mark could begin a trigraph.
pub fn literal(text: &str) -> String {
    let mut literal = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' | '?' => literal.extend(['\\', character]),
            // Three octal digits end by themselves, hexadecimal ones do not.
            control if control.is_ascii_control() => literal += &format!("\\{:03o}", u32::from(control)),
            other => literal.push(other),
        }
    }
    literal + "\""
}
