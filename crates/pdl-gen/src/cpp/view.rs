//! The values that the templates render.

use super::{
    layout::{self, comment, raw_literal},
    names::{Scopes, fresh, spell},
    reserved::{NameScope, own_names},
};
use crate::{
    json_schema,
    names::split,
    order::{Declaration, in_order},
};
use oasis_pdl::{
    Model,
    model::{self, Metric, Probe, Type},
};
use serde::Serialize;

/// A file.
#[derive(Serialize)]
pub struct Header {
    from: String,
    blocks: Vec<Block>,
}

/// Declarations of one namespace that stand together.
#[derive(Serialize)]
struct Block {
    namespace: String,
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
    identity: Option<Identity>,
    members: Vec<Member>,
    /// The result of `operator==`.
    equality: String,
    /// Variables whose names no member has.
    row: String,
    packet: String,
    value: String,
    left: String,
    right: String,
}

/// The properties of a probe that a struct lacks.
#[derive(Serialize)]
struct Identity {
    name: String,
    version: String,
    uuid: String,
    schema: String,
}

#[derive(Serialize)]
struct Member {
    docs: Vec<String>,
    declaration: String,
    name: String,
}

/// All that a model declares.
pub fn header(model: &Model, from: &str) -> Header {
    let scopes = Scopes::new(model);
    let mut blocks: Vec<Block> = Vec::new();
    for declaration in in_order(model) {
        let spelled = scopes.spelled(declaration.name());
        let (namespace, _) = split(spelled);
        let item = item(model, &scopes, declaration, spelled);
        match blocks.last_mut().filter(|block| block.namespace == namespace) {
            Some(block) => block.declarations.push(item),
            None => blocks.push(Block { namespace: namespace.to_owned(), declarations: vec![item] }),
        }
    }
    Header { from: from.to_owned(), blocks }
}

fn item(model: &Model, scopes: &Scopes, declaration: Declaration<'_>, spelled: &str) -> Item {
    let (namespace, name) = split(spelled);
    let inside = |metrics, place| StructScope::new(model, scopes, namespace, name, metrics, place);
    match declaration {
        Declaration::Enum(declared) => Item::Enum(enumeration(declared, name)),
        Declaration::Struct(declared) => {
            let structure = inside(&declared.members, NameScope::Struct).structure(declared.doc.as_deref());
            Item::Struct(Box::new(structure))
        }
        Declaration::Probe(probe) => {
            let structure = inside(&probe.metrics, NameScope::Probe).structure(probe.doc.as_deref());
            Item::Struct(Box::new(Struct { identity: identity(model, probe), ..structure }))
        }
    }
}

/// A struct that is being built.
struct StructScope<'a> {
    model: &'a Model,
    scopes: &'a Scopes,
    namespace: &'a str,
    name: &'a str,
    metrics: &'a [Metric],
    /// Names of the members.
    names: Vec<String>,
    /// Names that mean something else here than around the struct.
    hidden: Vec<String>,
}

impl<'a> StructScope<'a> {
    fn new(
        model: &'a Model,
        scopes: &'a Scopes,
        namespace: &'a str,
        name: &'a str,
        metrics: &'a [Metric],
        place: NameScope,
    ) -> Self {
        let names = spell(metrics.iter().map(|metric| metric.name.as_str()), place, name);
        let hidden = names.iter().cloned().chain(own_names(place)).collect();
        Self { model, scopes, namespace, name, metrics, names, hidden }
    }

    fn structure(&self, docs: Option<&str>) -> Struct {
        let member = |(metric, name): (&Metric, &String)| Member {
            docs: comment(&metric_docs(metric), 2),
            declaration: layout::member(&self.kind(&metric.kind), name, &self.initial(&metric.kind)),
            name: name.clone(),
        };
        let (left, right) = (fresh("left", &self.names), fresh("right", &self.names));
        Struct {
            docs: comment(docs.unwrap_or_default(), 0),
            name: self.name.to_owned(),
            identity: None,
            members: self.metrics.iter().zip(&self.names).map(member).collect(),
            equality: layout::equality(&self.names, &left, &right, "    return ".len()),
            row: fresh("row", &self.names),
            packet: fresh("packet", &self.names),
            value: fresh("value", &self.names),
            left,
            right,
        }
    }

    fn kind(&self, kind: &Type) -> String {
        match kind {
            Type::Primitive(primitive) => primitive.row().cpp.to_owned(),
            Type::Vector(element) => format!("std::vector<{}>", self.kind(element)),
            Type::Struct(name) | Type::Enum(name) => self.reference(name),
            // Written like a vector of these.
            Type::Blob(_) => "std::vector<std::uint8_t>".to_owned(),
        }
    }

    /// The initial value of a member, if its type has no default.
    fn initial(&self, kind: &Type) -> String {
        match kind {
            Type::Vector(_) | Type::Struct(_) | Type::Blob(_) => String::new(),
            Type::Primitive(primitive) => primitive.row().cpp_initial.to_owned(),
            Type::Enum(name) => {
                let declared = self.model.enum_named(name);
                let first = declared.and_then(|declared| enumerators(declared).into_iter().next());
                first.map_or_else(String::new, |first| format!("{}::{first}", self.reference(name)))
            }
        }
    }

    fn reference(&self, scoped: &str) -> String {
        self.scopes.reference(self.namespace, &self.hidden, scoped)
    }
}

fn enumeration(declared: &model::Enum, name: &str) -> Enum {
    let value = |(value, name): (&model::Enumerator, String)| Enumerator {
        docs: comment(value.doc.as_deref().unwrap_or_default(), 2),
        name,
        number: value.value,
    };
    Enum {
        docs: comment(declared.doc.as_deref().unwrap_or_default(), 0),
        name: name.to_owned(),
        base: declared.base.row().cpp,
        values: declared.enumerators.iter().zip(enumerators(declared)).map(value).collect(),
    }
}

fn enumerators(declared: &model::Enum) -> Vec<String> {
    spell(declared.enumerators.iter().map(|value| value.name.as_str()), NameScope::Enum, "")
}

fn identity(model: &Model, probe: &Probe) -> Option<Identity> {
    let schema = json_schema::schema(model, probe)?;
    Some(Identity {
        name: schema.name.clone(),
        version: schema.version.clone(),
        uuid: schema.uuid.to_string(),
        schema: raw_literal(&serde_json::to_string(&schema).ok()?),
    })
}

/// The documentation of a metric.
pub fn metric_docs(metric: &Metric) -> String {
    let unit = metric.unit.as_ref().map(|unit| format!("Unit: `{unit}`."));
    let texts: Vec<String> = metric.doc.iter().cloned().chain(unit).collect();
    texts.join(" ")
}
