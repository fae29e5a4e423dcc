//! Types, and the structs and enums that they name: each pair is compared once a probe.

use super::{Change, ChangeKind, Changes};
use crate::model::{Enum, Metric, Model, Primitive, Struct, Type, blob_spelling};
use std::collections::{BTreeSet, HashMap, HashSet};

/// The types of one probe's samples, before and after.
pub struct Types<'a> {
    models: [&'a Model; 2],
    structs: [HashMap<&'a str, &'a Struct>; 2],
    pub(super) changes: Changes,
    /// Structs that are still to be compared: a chain of them can be longer than a stack.
    open: Vec<(&'a Struct, &'a Struct)>,
    seen: HashSet<(&'a str, &'a str)>,
}

impl<'a> Types<'a> {
    pub fn new(old: &'a Model, new: &'a Model, changes: Changes) -> Self {
        let by_name = |model: &'a Model| {
            model.structs.iter().map(|declared| (declared.name.as_str(), declared)).collect()
        };
        let structs = [by_name(old), by_name(new)];
        Self { models: [old, new], structs, changes, open: Vec::new(), seen: HashSet::new() }
    }

    /// Compares the structs that the metrics use, and the structs that these use.
    pub fn used(mut self) -> Vec<Change> {
        while let Some((old, new)) = self.open.pop() {
            self.struct_(old, new);
        }
        self.changes.list
    }

    /// The types of a metric.
    pub fn kind(&mut self, old: &'a Metric, new: &'a Metric, called: &str) {
        let (mut before, mut after) = (&old.kind, &new.kind);
        while let (Type::Vector(old), Type::Vector(new)) = (before, after) {
            (before, after) = (old, new);
        }
        let change = match (before, after) {
            (Type::Primitive(old), Type::Primitive(new)) if old == new => return,
            (Type::Blob(old), Type::Blob(new)) if old == new => return,
            (Type::Struct(old), Type::Struct(new)) => return self.structs_named(old, new),
            (Type::Enum(old), Type::Enum(new)) => return self.enums_named(old, new),
            _ if self.carrier(0, before).is_some() && self.carrier(0, before) == self.carrier(1, after) => {
                ChangeKind::EnumOrNumber
            }
            _ => ChangeKind::TypeChanged,
        };
        let message =
            format!("type of {called} changed from `{}` to `{}`", spelled(&old.kind), spelled(&new.kind));
        self.changes.push(change, message, Some(old.place), Some(new.place));
    }

    /// The simple type that travels for a simple type or an enum.
    fn carrier(&self, model: usize, kind: &Type) -> Option<Primitive> {
        match kind {
            Type::Primitive(simple) => Some(*simple),
            Type::Enum(name) => self.models.get(model).map(|model| model.base_of(name)),
            Type::Struct(_) | Type::Vector(_) | Type::Blob(_) => None,
        }
    }

    /// The enumerators of these numbers.
    pub fn names(&self, model: usize, kind: &'a Type, values: &[i64]) -> BTreeSet<&'a str> {
        let declared = match kind {
            Type::Vector(element) => return self.names(model, element, values),
            Type::Enum(name) => self.models.get(model).and_then(|model| model.enum_named(name)),
            Type::Primitive(_) | Type::Struct(_) | Type::Blob(_) => None,
        };
        let all = declared.into_iter().flat_map(|declared| &declared.enumerators);
        let meant = all.filter(|enumerator| values.contains(&enumerator.value));
        meant.map(|enumerator| enumerator.name.as_str()).collect()
    }

    fn structs_named(&mut self, old: &'a str, new: &'a str) {
        let [before, after] = &self.structs;
        if let (Some(before), Some(after)) = (before.get(old), after.get(new))
            && self.seen.insert((old, new))
        {
            self.open.push((before, after));
        }
    }

    fn struct_(&mut self, old: &'a Struct, new: &'a Struct) {
        if old.name != new.name {
            let message = format!("struct `{}` replaced by `{}`", old.name, new.name);
            self.changes.push(ChangeKind::TypeRenamed, message, Some(old.place), Some(new.place));
        }
        let called = format!("struct `{}`", new.name);
        self.changes.push_documentation(&called, [&old.doc, &new.doc], [old.place, new.place]);
        self.metrics(&old.members, &new.members, "member", &format!("{}.", new.name));
    }

    fn enums_named(&mut self, old: &'a str, new: &'a str) {
        let [before, after] = self.models;
        if let (Some(before), Some(after)) = (before.enum_named(old), after.enum_named(new))
            && self.seen.insert((old, new))
        {
            self.enum_(before, after);
        }
    }

    fn enum_(&mut self, old: &Enum, new: &Enum) {
        let places = (Some(old.place), Some(new.place));
        if old.name != new.name {
            let message = format!("enum `{}` replaced by `{}`", old.name, new.name);
            self.changes.push(ChangeKind::TypeRenamed, message, places.0, places.1);
        }
        if old.base != new.base {
            let [before, after] = [old.base.name(), new.base.name()];
            let message = format!("base type of enum `{}` changed from `{before}` to `{after}`", new.name);
            self.changes.push(ChangeKind::EnumBaseChanged, message, places.0, places.1);
        }
        let called = format!("enum `{}`", new.name);
        self.changes.push_documentation(&called, [&old.doc, &new.doc], [old.place, new.place]);
        self.enumerators(old, new);
    }

    fn enumerators(&mut self, old: &Enum, new: &Enum) {
        let named = |of: &Enum, name: &str| of.enumerators.iter().any(|known| known.name == name);
        let called = |name: &str| format!("enumerator `{}.{name}`", new.name);
        for was in &old.enumerators {
            // By name; else the one that took its number.
            let same = new.enumerators.iter().find(|is| is.name == was.name);
            let heir = || new.enumerators.iter().find(|is| is.value == was.value && !named(old, &is.name));
            let (change, message) = match same.or_else(heir) {
                None => (ChangeKind::EnumeratorRemoved, format!("{} removed", called(&was.name))),
                Some(is) if is.name != was.name => (
                    ChangeKind::EnumeratorRenamed,
                    format!("{} renamed from `{}`", called(&is.name), was.name),
                ),
                Some(is) if is.value != was.value => {
                    let message = format!("{} changed from {} to {}", called(&is.name), was.value, is.value);
                    (ChangeKind::EnumeratorRenumbered, message)
                }
                Some(is) => {
                    let places = [was.place, is.place];
                    self.changes.push_documentation(&called(&is.name), [&was.doc, &is.doc], places);
                    continue;
                }
            };
            let is = same.or_else(heir).map(|is| is.place);
            self.changes.push(change, message, Some(was.place), is);
        }
        let took_over =
            |value| old.enumerators.iter().any(|was| was.value == value && !named(new, &was.name));
        for is in new.enumerators.iter().filter(|is| !named(old, &is.name) && !took_over(is.value)) {
            let message = format!("{} added", called(&is.name));
            self.changes.push(ChangeKind::EnumeratorAdded, message, None, Some(is.place));
        }
    }
}

/// The type in PDL syntax.
fn spelled(kind: &Type) -> String {
    match kind {
        Type::Primitive(simple) => simple.name().to_owned(),
        Type::Vector(element) => format!("vector<{}>", spelled(element)),
        Type::Struct(name) | Type::Enum(name) => name.clone(),
        Type::Blob(of) => blob_spelling(*of),
    }
}
