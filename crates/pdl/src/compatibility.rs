//! The effects of changed files on the readers of samples.
//!
//! Only probes that send samples are compared, each with all that its samples are made of: inherited metrics, structs, enums. UUID and
//! version name one layout, so the effect of a change depends on whether the version was raised.

mod metrics;
mod probes;
mod types;

use crate::{
    model::{Model, NameSpan},
    source::{Sources, Span},
};
use serde_json::json;

/// A difference between two models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The kind of difference.
    pub kind: ChangeKind,
    /// Its effect on readers.
    pub class: Class,
    /// Scoped name of the probe, the new one if there are two.
    pub probe: String,
    /// One sentence.
    pub message: String,
    /// Its place in the old files, if any.
    pub old: Option<Span>,
    /// Its place in the new files, if any.
    pub new: Option<Span>,
}

/// The effect of a change on readers, the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// No effect on readers.
    Safe,
    /// Readers receive the schema of the new version with the registration.
    NewVersion,
    /// Values have another meaning under the same UUID and version: the version should be raised.
    NeedsVersion,
    /// Samples have another layout under the same UUID and version, or a probe was removed.
    Breaking,
}

impl Class {
    /// All of them, the worst first.
    pub const ALL: [Self; 4] = [Self::Breaking, Self::NeedsVersion, Self::NewVersion, Self::Safe];

    /// Its name for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::NewVersion => "new_version",
            Self::NeedsVersion => "needs_version",
            Self::Breaking => "breaking",
        }
    }
}

/// The property that a change affects.
enum Affects {
    /// The identity of the probe.
    Identity,
    /// The version that they do not know yet.
    Version,
    /// Positions of the values of a sample.
    Layout,
    /// The meaning of the values.
    Meaning,
    /// Only texts for people.
    Text,
}

/// A kind of difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ChangeKind {
    ProbeRemoved,
    UuidChanged,
    VersionLowered,
    VersionRaised,
    MetricRemoved,
    MetricAdded,
    OrderChanged,
    TypeChanged,
    EnumBaseChanged,
    EnumeratorRenumbered,
    ProbeRenamed,
    MetricRenamed,
    EnumOrNumber,
    EnumeratorRemoved,
    EnumeratorRenamed,
    UnitChanged,
    KindChanged,
    RangeChanged,
    ProbeAdded,
    EnumeratorAdded,
    TypeRenamed,
    LabelChanged,
    LimitsChanged,
    RateChanged,
    DocumentationChanged,
}

impl ChangeKind {
    /// Its name for programs, and the property that it affects.
    fn entry(self) -> (&'static str, Affects) {
        use Affects::{Identity, Layout, Meaning, Text, Version};
        match self {
            Self::ProbeRemoved => ("probe_removed", Identity),
            Self::UuidChanged => ("uuid_changed", Identity),
            Self::VersionLowered => ("version_lowered", Identity),
            Self::VersionRaised => ("version_raised", Version),
            Self::MetricRemoved => ("metric_removed", Layout),
            Self::MetricAdded => ("metric_added", Layout),
            Self::OrderChanged => ("order_changed", Layout),
            Self::TypeChanged => ("type_changed", Layout),
            Self::EnumBaseChanged => ("enum_base_changed", Layout),
            Self::EnumeratorRenumbered => ("enumerator_renumbered", Layout),
            Self::ProbeRenamed => ("probe_renamed", Meaning),
            Self::MetricRenamed => ("metric_renamed", Meaning),
            Self::EnumOrNumber => ("enum_or_number", Meaning),
            Self::EnumeratorRemoved => ("enumerator_removed", Meaning),
            Self::EnumeratorRenamed => ("enumerator_renamed", Meaning),
            Self::UnitChanged => ("unit_changed", Meaning),
            Self::KindChanged => ("kind_changed", Meaning),
            Self::RangeChanged => ("range_changed", Meaning),
            Self::ProbeAdded => ("probe_added", Text),
            Self::EnumeratorAdded => ("enumerator_added", Text),
            Self::TypeRenamed => ("type_renamed", Text),
            Self::LabelChanged => ("label_changed", Text),
            Self::LimitsChanged => ("limits_changed", Text),
            Self::RateChanged => ("rate_changed", Text),
            Self::DocumentationChanged => ("documentation_changed", Text),
        }
    }

    /// Its name for programs.
    pub fn name(self) -> &'static str {
        self.entry().0
    }

    /// Returns the effect on readers, with or without a raised version.
    fn class(self, is_raised: bool) -> Class {
        match self.entry().1 {
            Affects::Identity => Class::Breaking,
            Affects::Text => Class::Safe,
            Affects::Version => Class::NewVersion,
            Affects::Layout | Affects::Meaning if is_raised => Class::NewVersion,
            Affects::Layout => Class::Breaking,
            Affects::Meaning => Class::NeedsVersion,
        }
    }
}

impl Change {
    /// Returns JSON for programs: one object; lines and columns count from 1.
    pub fn to_json(&self, old: &Sources, new: &Sources) -> serde_json::Value {
        let place = |span: Option<Span>, sources: &Sources| {
            span.map(|span| {
                let (line, column) = sources.line_and_column(span);
                json!({ "file": sources.path(span.file).to_string_lossy(), "line": line, "column": column })
            })
        };
        json!({
            "class": self.class.name(),
            "change": self.kind.name(),
            "probe": self.probe,
            "message": self.message,
            "old": place(self.old, old),
            "new": place(self.new, new),
        })
    }
}

/// All differences, the worst first.
///
/// ```
/// use oasis_pdl::{Class, compare, compile};
/// use std::{collections::HashMap, path::PathBuf};
///
/// let model = |metrics: &str| {
///     let text = format!("[uuid(0f3c7d52-9c7e-4a57-8a9f-62c1f1b8c7aa)] probe Engine {{ {metrics} }};");
///     let files = HashMap::from([(PathBuf::from("engine.pdl"), text)]);
///     compile(&["engine.pdl".into()], &[], &files).model
/// };
/// let changes = compare(&model("real32 rpm;"), &model("real64 rpm;"));
/// assert_eq!(changes[0].class, Class::Breaking);
/// assert_eq!(changes[0].message, "type of metric `rpm` changed from `real32` to `real64`");
/// ```
pub fn compare(old: &Model, new: &Model) -> Vec<Change> {
    let mut changes = probes::compare(old, new);
    changes.sort_by_key(|change| std::cmp::Reverse(change.class));
    changes
}

/// Collects the changes of one probe.
struct Changes {
    probe: String,
    is_raised: bool,
    list: Vec<Change>,
}

impl Changes {
    fn push(&mut self, kind: ChangeKind, message: String, old: Option<NameSpan>, new: Option<NameSpan>) {
        self.list.push(Change {
            kind,
            class: kind.class(self.is_raised),
            probe: self.probe.clone(),
            message,
            old: old.map(|place| place.0),
            new: new.map(|place| place.0),
        });
    }

    /// Something that can be absent, such as a unit.
    fn push_text(&mut self, kind: ChangeKind, thing: &str, texts: [Option<&str>; 2], places: [NameSpan; 2]) {
        let message = match texts {
            [Some(old), Some(new)] if old != new => format!("{thing} changed from {old:?} to {new:?}"),
            [Some(old), None] => format!("{thing} removed: {old:?}"),
            [None, Some(new)] => format!("{thing} added: {new:?}"),
            _ => return,
        };
        let [old, new] = places;
        self.push(kind, message, Some(old), Some(new));
    }

    fn push_documentation(&mut self, thing: &str, texts: [&Option<String>; 2], places: [NameSpan; 2]) {
        let [old, new] = texts;
        if old != new {
            let message = format!("documentation of {thing} changed");
            self.push(ChangeKind::DocumentationChanged, message, Some(places[0]), Some(places[1]));
        }
    }
}
