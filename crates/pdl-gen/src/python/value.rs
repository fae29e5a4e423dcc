//! Declaration, writing and reading of values of a type.

use super::{layout::Layout, names::Classes, names::enumerators};
use oasis_pdl::{Model, model::Type};

/// Looks up the names of types.
pub struct Values<'a> {
    pub model: &'a Model,
    pub classes: &'a Classes,
}

/// A value to be written.
pub struct FieldValue<'a> {
    /// Scoped name of the probe or struct, a point, and the metric.
    pub metric: &'a str,
    /// Field of the class.
    pub field: &'a str,
}

impl Values<'_> {
    /// The type in an annotation.
    pub fn annotation(&self, kind: &Type) -> String {
        match kind {
            Type::Primitive(primitive) => primitive.row().python.to_owned(),
            Type::Vector(element) => format!("list[{}]", self.annotation(element)),
            Type::Struct(name) | Type::Enum(name) => self.classes.named(name).to_owned(),
            Type::Blob(_) => "bytes".to_owned(),
        }
    }

    /// The initial value of a field.
    pub fn default(&self, kind: &Type) -> Layout {
        let made_by =
            |factory: &str| Layout::call("field", vec![Layout::word(format!("default_factory={factory}"))]);
        match kind {
            Type::Primitive(primitive) => Layout::word(primitive.row().python_initial),
            Type::Vector(_) => made_by("list"),
            Type::Blob(_) => Layout::word("b\"\""),
            Type::Struct(name) => made_by(self.classes.named(name)),
            Type::Enum(name) => {
                let first =
                    self.model.enum_named(name).and_then(|declared| enumerators(declared).into_iter().next());
                Layout::word(format!("{}.{}", self.classes.named(name), first.unwrap_or_default()))
            }
        }
    }

    /// The statement that writes `value`, loops around it `depth` deep.
    pub fn write(&self, kind: &Type, value: &str, depth: usize, of: &FieldValue<'_>) -> String {
        let indent = 4 * (depth + 2);
        let value = Layout::word(value);
        let metric = Layout::word(format!("\"{}\"", of.metric));
        let call = match kind {
            Type::Primitive(primitive) => {
                Layout::call(format!("to.{}", primitive.name()), vec![value, metric])
            }
            Type::Blob(of) => {
                Layout::call("to.blob", vec![value, Layout::word(of.max_bytes.to_string()), metric])
            }
            Type::Struct(name) => {
                Layout::call("to.struct", vec![value, Layout::word(self.classes.named(name)), metric])
            }
            Type::Enum(name) => {
                let number = Layout::word(format!("to.{}", self.model.base_of(name).name()));
                let class = Layout::word(self.classes.named(name));
                Layout::call("to.enumerator", vec![value, class, number, metric])
            }
            Type::Vector(element) => {
                let item = self.classes.element(of.field, depth);
                let elements = Layout::call("to.vector", vec![value, metric]);
                let head = elements.statement(indent, &format!("for {item} in "), ":");
                return format!("{head}\n{}", self.write(element, &item, depth + 1, of));
            }
        };
        call.statement(indent, "", "")
    }

    /// The expression that reads a value.
    pub fn read(&self, kind: &Type) -> Layout {
        match kind {
            Type::Primitive(primitive) => Layout::call(format!("source.{}", primitive.name()), Vec::new()),
            Type::Blob(of) => Layout::call("source.blob", vec![Layout::word(of.max_bytes.to_string())]),
            Type::Struct(name) => {
                Layout::call(format!("{}.read", self.classes.named(name)), vec![Layout::word("source")])
            }
            Type::Enum(name) => {
                let number = Layout::word(format!("source.{}", self.model.base_of(name).name()));
                Layout::call("source.enumerator", vec![Layout::word(self.classes.named(name)), number])
            }
            Type::Vector(element) => {
                Layout::comprehension(self.read(element), Layout::word("for _ in range(source.vector())"))
            }
        }
    }
}
