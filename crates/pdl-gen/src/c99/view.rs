//! The values that the templates render.

use crate::{
    c::{
        names::{Names, members},
        view::{SCHEMA_LINE, TEXT, literal},
    },
    cpp::{layout::comment, view::metric_docs},
    json_schema,
    names::free_names,
    order::{Declaration, in_order},
    text::pieces,
};
use oasis_pdl::{
    Model,
    model::{self, Metric, Primitive, Probe, Type},
};
use oasis_wire::primitive::Class;
use serde::Serialize;
use std::collections::HashMap;
use uuid::Uuid;

/// A file.
#[derive(Serialize)]
pub struct Header {
    from: String,
    guard: String,
    declarations: Vec<Item>,
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
    probe: Option<Described>,
}

#[derive(Serialize)]
struct Member {
    docs: Vec<String>,
    kind: String,
    name: String,
}

/// Parts of a probe in addition to its struct.
#[derive(Serialize)]
struct Described {
    sample: String,
    schema: String,
    columns: String,
    type_name: String,
    row_bytes: String,
    bytes: usize,
    /// The schema in pieces: literals, or characters if it is too long for one.
    lines: Vec<String>,
    is_long: bool,
    uuid: String,
    crc: String,
    column_list: Vec<Column>,
}

#[derive(Serialize)]
struct Column {
    kind: &'static str,
    width: usize,
}

/// All that a model declares.
pub fn header(model: &Model, from: &str) -> Header {
    let declarations = in_order(model);
    let names = Names::new(&declarations, |_| 0, &["_sample", "_schema", "_columns", "_type"]);
    let constants = constants(&declarations, &names);
    let making = Builder { model, names, constants };
    Header {
        from: from.to_owned(),
        guard: guard(from),
        declarations: declarations.iter().map(|declaration| making.item(*declaration)).collect(),
    }
}

/// `plant.pdl, motor.pdl` to `OASIS_PLANT_PDL_MOTOR_PDL_H`.
fn guard(from: &str) -> String {
    let words = from.split(|character: char| !character.is_ascii_alphanumeric());
    let words: Vec<String> = words.filter(|word| !word.is_empty()).map(str::to_ascii_uppercase).collect();
    format!("OASIS_{}_H", words.join("_"))
}

/// The name of the constant of each probe.
fn constants(declarations: &[Declaration<'_>], names: &Names) -> HashMap<String, String> {
    let probes = declarations.iter().filter(|declaration| matches!(declaration, Declaration::Probe(_)));
    let scoped: Vec<String> = probes.map(|probe| probe.name().to_owned()).collect();
    let wanted: Vec<String> =
        scoped.iter().map(|name| names.of(name).to_ascii_uppercase() + "_ROW_BYTES").collect();
    scoped.into_iter().zip(free_names(&wanted, |_| false)).collect()
}

/// Bytes of a value in a packed row. None for one without a fixed size.
pub fn width(model: &Model, kind: &Type) -> Option<usize> {
    match kind {
        Type::Primitive(primitive) => primitive.row().bytes,
        Type::Enum(name) => model.base_of(name).row().bytes,
        Type::Struct(name) => {
            let members = &model.struct_named(name)?.members;
            members.iter().try_fold(0_usize, |sum, member| sum.checked_add(width(model, &member.kind)?))
        }
        Type::Vector(_) | Type::Blob(_) => None,
    }
}

struct Builder<'a> {
    model: &'a Model,
    names: Names,
    constants: HashMap<String, String>,
}

impl Builder<'_> {
    fn item(&self, declaration: Declaration<'_>) -> Item {
        match declaration {
            Declaration::Enum(declared) => Item::Enum(self.enumeration(declared)),
            Declaration::Struct(declared) => Item::Struct(Box::new(self.structure(
                &declared.name,
                declared.doc.as_deref(),
                &declared.members,
            ))),
            Declaration::Probe(probe) => {
                let structure = self.structure(&probe.name, probe.doc.as_deref(), &probe.metrics);
                Item::Struct(Box::new(Struct { probe: self.described(probe), ..structure }))
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
        }
    }

    fn structure(&self, scoped: &str, docs: Option<&str>, metrics: &[Metric]) -> Struct {
        let spelled = members(metrics.iter().map(|metric| metric.name.as_str()));
        let member = |(metric, name): (&Metric, &String)| Member {
            docs: comment(&metric_docs(metric), 2),
            kind: self.names.kind(&metric.kind),
            name: name.clone(),
        };
        let (mut statements, mut at) = (Vec::new(), 0);
        for (metric, name) in metrics.iter().zip(&spelled) {
            statements.extend(self.put(&metric.kind, &format!("value->{name}"), at));
            at += width(self.model, &metric.kind).unwrap_or_default();
        }
        Struct {
            docs: comment(docs.unwrap_or_default(), 0),
            name: self.names.of(scoped).to_owned(),
            put: self.names.part(scoped, "_put").to_owned(),
            members: metrics.iter().zip(&spelled).map(member).collect(),
            statements,
            probe: None,
        }
    }

    /// The statement that writes the value at a place.
    fn put(&self, kind: &Type, place: &str, at: usize) -> Option<String> {
        let put = |primitive: Primitive| format!("oasis_put_{}(row + {at}, {place});", primitive.name());
        match kind {
            Type::Primitive(primitive) => Some(put(*primitive)),
            Type::Enum(name) => Some(put(self.model.base_of(name))),
            Type::Struct(name) => Some(format!("{}(row + {at}, &{place});", self.names.part(name, "_put"))),
            Type::Vector(_) | Type::Blob(_) => None,
        }
    }

    fn described(&self, probe: &Probe) -> Option<Described> {
        let schema = serde_json::to_string(&json_schema::schema(self.model, probe)?).ok()?;
        let part = |what: &str| self.names.part(&probe.name, what).to_owned();
        let columns: Vec<Column> =
            probe.metrics.iter().filter_map(|metric| self.column(&metric.kind)).collect();
        Some(Described {
            sample: part("_sample"),
            schema: part("_schema"),
            columns: part("_columns"),
            type_name: part("_type"),
            row_bytes: self.constants.get(&probe.name).cloned().unwrap_or_default(),
            bytes: columns.iter().map(|column| column.width).sum(),
            lines: match schema.len() > TEXT {
                true => characters(&schema),
                false => pieces(&schema, SCHEMA_LINE).iter().map(|piece| literal(piece)).collect(),
            },
            is_long: schema.len() > TEXT,
            uuid: bytes_of(probe.uuid?),
            crc: format!("{:#010x}", crc32fast::hash(schema.as_bytes())),
            column_list: columns,
        })
    }

    fn column(&self, kind: &Type) -> Option<Column> {
        let width = width(self.model, kind)?;
        let kind = match kind {
            Type::Primitive(primitive) => column_kind(*primitive),
            Type::Enum(name) => column_kind(self.model.base_of(name)),
            Type::Struct(_) | Type::Vector(_) | Type::Blob(_) => "OASIS_ROWS",
        };
        Some(Column { kind, width })
    }
}

fn column_kind(primitive: Primitive) -> &'static str {
    match primitive.row().class {
        Class::Integer { min, .. } if min < 0 => "OASIS_SIGNED",
        Class::Integer { .. } | Class::Boolean => "OASIS_UNSIGNED",
        Class::Real => "OASIS_REAL",
        Class::Text => "OASIS_ROWS",
    }
}

/// The characters of a text for which C99 guarantees no literal, with the zero that ends it.
fn characters(text: &str) -> Vec<String> {
    let bytes: Vec<u8> = text.bytes().chain([0]).collect();
    let character = |byte: &u8| match byte {
        b'\'' | b'\\' => format!("'\\{}',", char::from(*byte)),
        b' '..=b'~' => format!("'{}',", char::from(*byte)),
        other => format!("'\\{other:03o}',"),
    };
    bytes.chunks(20).map(|line| line.iter().map(character).collect::<Vec<_>>().join(" ")).collect()
}

/// The bytes in the order of the text.
fn bytes_of(uuid: Uuid) -> String {
    uuid.as_bytes().map(|byte| format!("{byte:#04x}")).join(", ")
}
