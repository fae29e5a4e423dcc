//! Declaration, first value, writing and reading of values of a type.

use super::{
    layout::{INDENT, Layout, blanks},
    names::{Types, element},
    text::literal,
};
use oasis_pdl::{Model, model::Type};

/// Looks up the names of types.
pub struct Values<'a> {
    pub model: &'a Model,
    pub types: &'a Types,
}

impl Values<'_> {
    /// The type in an interface.
    pub fn annotation(&self, kind: &Type) -> String {
        match kind {
            Type::Primitive(primitive) => primitive.row().typescript.to_owned(),
            Type::Vector(element) => format!("{}[]", self.annotation(element)),
            Type::Struct(name) | Type::Enum(name) => self.types.named(name).to_owned(),
            Type::Blob(_) => "Uint8Array".to_owned(),
        }
    }

    /// The initial value.
    pub fn initial(&self, kind: &Type) -> Layout {
        match kind {
            Type::Primitive(primitive) => Layout::word(primitive.row().typescript_initial),
            Type::Vector(_) => Layout::word("[]"),
            Type::Blob(_) => Layout::word("new Uint8Array()"),
            Type::Struct(name) => Layout::word(format!("{}.create()", self.types.named(name))),
            Type::Enum(name) => {
                let first = self.model.enum_named(name).and_then(|declared| declared.enumerators.first());
                let first = first.map_or("", |first| first.name.as_str());
                Layout::word(format!("{}.{first}", self.types.named(name)))
            }
        }
    }

    /// The statement that writes `value` of a `metric`, which errors name; loops around it `depth` deep.
    pub fn write(&self, kind: &Type, value: &str, metric: &str, indent: usize, depth: usize) -> String {
        let (value, name) = (value.to_owned(), literal(metric));
        let (method, arguments) = match kind {
            Type::Primitive(primitive) => (primitive.name(), vec![value, name]),
            Type::Blob(of) => ("blob", vec![value, of.max_bytes.to_string(), name]),
            Type::Struct(of) => ("struct", vec![value, self.types.named(of).to_owned(), name]),
            Type::Enum(of) => {
                let base = literal(self.model.base_of(of).name());
                ("enumerator", vec![value, self.types.named(of).to_owned(), base, name])
            }
            Type::Vector(of) => {
                let item = element(depth);
                let head = Layout::call("to.vector", vec![value, name]);
                let head = head.statement(indent, &format!("for (const {item} of "), ") {");
                let body = self.write(of, &item, metric, indent + INDENT, depth + 1);
                return format!("{head}\n{body}\n{}}}", blanks(indent));
            }
        };
        Layout::call(format!("to.{method}"), arguments).statement(indent, "", ";")
    }

    /// The expression that reads a value.
    pub fn read(&self, kind: &Type) -> Layout {
        match kind {
            Type::Primitive(primitive) => Layout::call(format!("source.{}", primitive.name()), Vec::new()),
            Type::Blob(of) => Layout::call("source.blob", vec![of.max_bytes.to_string()]),
            Type::Struct(of) => Layout::call("source.struct", vec![self.types.named(of).to_owned()]),
            Type::Enum(of) => {
                let base = literal(self.model.base_of(of).name());
                Layout::call("source.enumerator", vec![self.types.named(of).to_owned(), base])
            }
            Type::Vector(of) => Layout::calling("source.vector", self.read(of)),
        }
    }
}
