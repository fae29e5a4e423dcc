//! Definitions in IDL (OMG IDL 4.2, with the annotations of DDS-XTypes), as recordings have them in the encodings `ros2idl` and `omgidl`.
//!
//! `tokens` splits a text, `declarations` reads it, and this makes the fields and metrics of a message. Not supported are `union`, `bitmask`,
//! `map`, `fixed`, `wchar`, `long double`, `any`, optional members and mutable types.

mod declarations;
mod tokens;

use super::layout::{
    Ambiguities, BadLayout, Elements, Fields, Kind, Layout, Size, primitive, undefined, unit,
};
use crate::{
    input::{FieldBudget, unit_of},
    visible::shortened,
};
use declarations::{Declarations, Declared, Enum, Extensibility, Member, Struct, Type};
use oasis_wire::{
    schema::{EnumType, Enumerator, Metric, MetricType, StructType},
    value::MAX_DEPTH,
};
use std::collections::HashSet;

/// The only member of a message of ROS 2 without fields.
const NO_FIELDS: &str = "structure_needs_at_least_one_member";

/// Returns the layout of a message; `name` is scoped by `::` or `/`.
pub fn layout(name: &str, text: &str) -> Result<Layout, BadLayout> {
    let all = Declarations::read(text)?;
    let full = name.replace('/', "::");
    // Some recorders omit the module `msg`.
    let with_module = full.rsplit_once("::").map(|(package, name)| format!("{package}::msg::{name}"));
    let names = [Some(full), with_module];
    let found = names.iter().flatten().find_map(|name| all.find("", name));
    let Some((full, declared)) = found else { return Err(undefined(name)) };
    let Declared::Struct(root) = declared else { return Err(BadLayout::Unsupported(shortened(full))) };
    let mut reading = Reading { all: &all, budget: FieldBudget::new(), ambiguities: Ambiguities::default() };
    let (fields, metrics) = reading.message(full, root, 0)?;
    let count = reading.budget.used();
    Ok(Layout { fields, ambiguities: reading.ambiguities, count, metrics })
}

/// The content of a field.
struct Content {
    kind: Kind,
    of: MetricType,
    enumeration: Option<EnumType>,
}

struct Reading<'a> {
    all: &'a Declarations,
    budget: FieldBudget,
    ambiguities: Ambiguities,
}

impl Reading<'_> {
    fn message(&mut self, name: &str, of: &Struct, depth: usize) -> Result<(Fields, Vec<Metric>), BadLayout> {
        if depth > MAX_DEPTH {
            return Err(BadLayout::Deep);
        }
        let is_delimited = match of.extensibility {
            None => None,
            Some(Extensibility::Final) => Some(false),
            Some(Extensibility::Appendable) => Some(true),
            Some(Extensibility::Mutable) => return Err(BadLayout::Unsupported("@mutable".into())),
        };
        let module = name.rsplit_once("::").map_or("", |(module, _)| module);
        let (mut fields, mut metrics) = match &of.base {
            Some(base) => self.base(base, depth)?,
            None => (Fields::default(), Vec::new()),
        };
        fields.is_delimited = is_delimited;
        if matches!(&*of.members, [only] if only.name == NO_FIELDS) {
            return Ok((fields, metrics));
        }
        if of.members.is_empty() && fields.kinds.is_empty() {
            return Err(BadLayout::Unsupported("a struct without members".into()));
        }
        if !of.members.iter().all(|member| self.budget.take_field(&member.name)) {
            return Err(BadLayout::Many);
        }
        for member in &of.members {
            self.member(name, module, member, depth, &mut fields, &mut metrics)?;
        }
        Ok((fields, metrics))
    }

    /// The members of the struct that another one continues.
    fn base(&mut self, base: &Type, depth: usize) -> Result<(Fields, Vec<Metric>), BadLayout> {
        let Type::Named { name, module } = base else {
            return Err(BadLayout::Unsupported("its base".into()));
        };
        match self.all.find(module, name) {
            Some((full, Declared::Struct(of))) => self.message(full, of, depth + 1),
            _ => Err(undefined(name)),
        }
    }

    fn member(
        &mut self,
        message: &str,
        module: &str,
        member: &Member,
        depth: usize,
        fields: &mut Fields,
        metrics: &mut Vec<Metric>,
    ) -> Result<(), BadLayout> {
        if member.is_optional {
            return Err(BadLayout::Unsupported("@optional".into()));
        }
        let Content { kind, of, enumeration } = self.content(module, &member.of, depth)?;
        if !kind.is_nothing() {
            let declared = member.unit.as_deref().and_then(unit_of);
            let unit = declared.or_else(|| unit(&without_msg(message, "/"), &member.name));
            metrics.push(Metric { unit, enumeration, ..Metric::new(&*member.name, of) });
        }
        fields.kinds.push(kind);
        Ok(())
    }

    fn content(&mut self, module: &str, of: &Type, depth: usize) -> Result<Content, BadLayout> {
        if depth > MAX_DEPTH {
            return Err(BadLayout::Deep);
        }
        match of {
            Type::Primitive(name) => {
                let (kind, of) =
                    primitive(name, false)?.ok_or_else(|| BadLayout::Unsupported((*name).to_owned()))?;
                self.ambiguities.has_wide_text |= kind == Kind::WideText;
                Ok(Content { kind, of, enumeration: None })
            }
            Type::Sequence(of) => self.elements(module, of, depth, Kind::Sequence),
            Type::Array(of, count) => {
                self.elements(module, of, depth, |elements| Kind::Fixed(*count, elements))
            }
            Type::Named { name, module } => self.named(module, name, depth),
            Type::Unsupported(name) => Err(BadLayout::Unsupported(name.clone())),
        }
    }

    fn elements(
        &mut self,
        module: &str,
        of: &Type,
        depth: usize,
        make: impl FnOnce(Elements) -> Kind,
    ) -> Result<Content, BadLayout> {
        let Content { kind, of, enumeration } = self.content(module, of, depth + 1)?;
        self.ambiguities.has_enum_elements |= matches!(kind, Kind::Enum(_));
        let kind = make(Elements { are_nothing: kind.is_nothing(), of: Box::new(kind) });
        Ok(Content { kind, of: MetricType::Vector(Box::new(of)), enumeration })
    }

    fn named(&mut self, module: &str, name: &str, depth: usize) -> Result<Content, BadLayout> {
        let (full, declared) = self.all.find(module, name).ok_or_else(|| undefined(name))?;
        match declared {
            Declared::Struct(of) => {
                if !self.budget.take_name(full) {
                    return Err(BadLayout::Many);
                }
                let (fields, members) = self.message(full, of, depth + 1)?;
                let of = StructType { name: without_msg(full, "::"), members };
                Ok(Content { kind: Kind::Message(fields), of: MetricType::Struct(of), enumeration: None })
            }
            Declared::Enum(of) => {
                let content = enumeration(full, of)?;
                match content.enumeration.as_ref().is_some_and(|of| self.budget.take_enum(of)) {
                    true => Ok(content),
                    false => Err(BadLayout::Many),
                }
            }
            Declared::Alias(of) => {
                let module = full.rsplit_once("::").map_or("", |(module, _)| module);
                // A name of itself ends as one that is too deep.
                self.content(module, of, depth + 1)
            }
            Declared::Unsupported(kind) => Err(BadLayout::Unsupported(format!("{kind} {}", shortened(full)))),
        }
    }
}

/// `std_msgs::msg::Header` is `std_msgs::Header`, as in definitions of ROS.
fn without_msg(name: &str, separator: &str) -> String {
    name.replacen("::msg::", "::", 1).replace("::", separator)
}

fn enumeration(name: &str, of: &Enum) -> Result<Content, BadLayout> {
    let (size, number) = match of.bits {
        1..=8 => (Size::One, MetricType::Int8),
        9..=16 => (Size::Two, MetricType::Int16),
        17..=32 => (Size::Four, MetricType::Int32),
        bits => return Err(BadLayout::Unsupported(format!("an enum of {bits} bits"))),
    };
    let (mut values, mut known) = (Vec::new(), HashSet::new());
    for (name, value) in &of.values {
        if i32::try_from(*value).is_err() || !known.insert(*value) {
            return Err(BadLayout::Unsupported(format!("the value {value} of an enum")));
        }
        values.push(Enumerator { name: name.clone(), value: *value, doc: None });
    }
    let name = without_msg(name, "::");
    Ok(Content { kind: Kind::Enum(size), of: number, enumeration: Some(EnumType { name, values }) })
}

#[cfg(test)]
mod tests;
