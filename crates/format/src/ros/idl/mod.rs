//! Definitions in IDL (OMG IDL 4.2, with the annotations of DDS-XTypes), as recordings have them in the encodings `ros2idl` and `omgidl`.
//!
//! `tokens` splits a text, `declarations` reads it with `annotations`, `constants` and `unions`, and this makes the fields and metrics of a message;
//! `choices` those of unions. Not supported are `bitset`, `map`, `fixed`, `wchar`, `long double`, `any`, mutable unions, and numbers of members that
//! are hashes.

mod annotations;
mod choices;
mod constants;
mod declarations;
mod tokens;
mod unions;

use super::layout::{
    self, Ambiguities, BadLayout, Elements, Fields, Kind, Layout, Size, primitive, undefined, unit,
};
use crate::{
    input::{FieldBudget, unit_of},
    ros::extensibility::Extensibility,
    visible::shortened,
};
use declarations::{Bitmask, Declarations, Declared, Enum, Member, MemberId, Struct, Type};
use oasis_wire::schema::{EnumType, Enumerator, MAX_DEPTH, Metric, MetricType, StructType};
use std::collections::HashSet;

/// The only member of a message of ROS 2 without fields.
const NO_FIELDS: &str = "structure_needs_at_least_one_member";

/// Returns the layout of a message; `name` is scoped by `::` or `/`.
pub fn read_layout(name: &str, text: &str) -> Result<Layout, BadLayout> {
    let all = Declarations::read(text)?;
    let full = name.replace('/', "::");
    // Some recorders omit the module `msg`.
    let with_module = full.rsplit_once("::").map(|(package, name)| format!("{package}::msg::{name}"));
    let names = [Some(full), with_module];
    let found = names.iter().flatten().find_map(|name| all.find("", name));
    let Some((full, declared)) = found else { return Err(undefined(name)) };
    let Declared::Struct(root) = declared else { return Err(BadLayout::Unsupported(shortened(full))) };
    let mut reading = Reading {
        all: &all,
        budget: FieldBudget::new(),
        ambiguities: Ambiguities::default(),
        has_absent_values: false,
        is_annotated: root.extensibility.is_some(),
    };
    let (fields, metrics) = reading.message(full, root, 0)?;
    let count = reading.budget.used();
    let layout = Layout { fields, ambiguities: reading.ambiguities, count, metrics, absent: None };
    match reading.has_absent_values {
        true => layout.with_absent_values(full, reading.budget),
        false => Ok(layout),
    }
}

/// The content of a field.
struct Content {
    kind: Kind,
    of: MetricType,
    enumeration: Option<EnumType>,
    doc: Option<String>,
}

impl Content {
    fn new(kind: Kind, of: MetricType) -> Self {
        Self { kind, of, enumeration: None, doc: None }
    }

    /// Makes it the metric of a member.
    fn metric(self, message: &str, member: &Member) -> (Kind, Metric) {
        let declared = member.unit.as_deref().and_then(unit_of);
        let unit = declared.or_else(|| unit(&without_msg(message, "/"), &member.name));
        let Self { kind, of, enumeration, doc } = self;
        (kind, Metric { unit, enumeration, doc, ..Metric::new(&*member.name, of) })
    }
}

struct Reading<'a> {
    all: &'a Declarations,
    budget: FieldBudget,
    ambiguities: Ambiguities,
    /// Whether messages can lack values.
    has_absent_values: bool,
    /// Whether the outermost type states its extensibility.
    is_annotated: bool,
}

impl Reading<'_> {
    fn message(&mut self, name: &str, of: &Struct, depth: usize) -> Result<(Fields, Vec<Metric>), BadLayout> {
        if depth > MAX_DEPTH {
            return Err(BadLayout::Deep);
        }
        let is_mutable = of.extensibility == Some(Extensibility::Mutable);
        self.has_absent_values |= is_mutable;
        let module = name.rsplit_once("::").map_or("", |(module, _)| module);
        let (mut fields, mut metrics) = match &of.base {
            Some(base) => self.base(base, depth)?,
            None => (Fields::default(), Vec::new()),
        };
        fields.extensibility = of.extensibility;
        if matches!(&*of.members, [only] if only.name == NO_FIELDS) {
            return Ok((fields, metrics));
        }
        if of.members.is_empty() && fields.members.is_empty() {
            return Err(BadLayout::Unsupported("a struct without members".into()));
        }
        if !of.members.iter().all(|member| self.budget.take_field(&member.name)) {
            return Err(BadLayout::Many);
        }
        for member in &of.members {
            self.member(name, module, member, depth, &mut fields, &mut metrics)?;
        }
        if is_mutable {
            check_numbers(of, &fields)?;
        }
        Ok((fields, metrics))
    }

    fn note_extensibility(&mut self, of: Option<Extensibility>) {
        self.ambiguities.has_unannotated_types |= of.is_none() && self.is_annotated;
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
        self.has_absent_values |= member.is_optional;
        let (kind, metric) = self.content(module, &member.of, depth)?.metric(message, member);
        let id = match member.id {
            MemberId::Number(id) => id,
            MemberId::Next | MemberId::Hash => fields.members.last().map_or(0, |last| last.id + 1),
        };
        let member = layout::Member { is_optional: member.is_optional, ..layout::Member::new(kind, id) };
        if member.has_value {
            metrics.push(metric);
        }
        fields.members.push(member);
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
                Ok(Content::new(kind, of))
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
        let Content { kind, of, enumeration, doc } = self.content(module, of, depth + 1)?;
        self.ambiguities.has_enum_elements |= matches!(kind, Kind::Enum(_));
        let kind = make(Elements { are_nothing: kind.is_nothing(), of: Box::new(kind) });
        Ok(Content { kind, of: MetricType::Vector(Box::new(of)), enumeration, doc })
    }

    fn named(&mut self, module: &str, name: &str, depth: usize) -> Result<Content, BadLayout> {
        let (full, declared) = self.all.find(module, name).ok_or_else(|| undefined(name))?;
        match declared {
            Declared::Struct(of) => {
                if !self.budget.take_name(full) {
                    return Err(BadLayout::Many);
                }
                self.note_extensibility(of.extensibility);
                let (fields, members) = self.message(full, of, depth + 1)?;
                let of = StructType { name: without_msg(full, "::"), members };
                Ok(Content::new(Kind::Message(fields), MetricType::Struct(of)))
            }
            Declared::Union(of) => {
                self.note_extensibility(of.extensibility);
                self.choice(full, of, depth + 1)
            }
            Declared::Bitmask(of) => {
                let content = bitmask(of)?;
                match content.doc.as_ref().is_none_or(|doc| self.budget.take_name(doc)) {
                    true => Ok(content),
                    false => Err(BadLayout::Many),
                }
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
    let enumeration = Some(EnumType { name, values });
    Ok(Content { enumeration, ..Content::new(Kind::Enum(size), number) })
}

/// A number with a bit for each flag.
fn bitmask(of: &Bitmask) -> Result<Content, BadLayout> {
    let (size, number) = match of.bits {
        1..=8 => (Size::One, MetricType::Uint8),
        9..=16 => (Size::Two, MetricType::Uint16),
        17..=32 => (Size::Four, MetricType::Uint32),
        33..=64 => (Size::Eight, MetricType::Uint64),
        bits => return Err(BadLayout::Unsupported(format!("a bitmask of {bits} bits"))),
    };
    let flags: Vec<_> = of.flags.iter().map(|(name, position)| format!("{position} {name}")).collect();
    let doc = (!flags.is_empty()).then(|| format!("Bits: {}.", flags.join(", ")));
    Ok(Content { doc, ..Content::new(Kind::Enum(size), number) })
}

/// Checks that each member of a mutable type has a number of its own.
fn check_numbers(of: &Struct, fields: &Fields) -> Result<(), BadLayout> {
    if of.members.iter().any(|member| member.id == MemberId::Hash) {
        let what = "a @mutable struct with @hashid or @autoid(HASH)";
        return Err(BadLayout::Unsupported(what.into()));
    }
    let mut known = HashSet::new();
    match fields.members.iter().find(|member| !known.insert(member.id)) {
        Some(member) => Err(BadLayout::Unsupported(format!("the member number {} twice", member.id))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
