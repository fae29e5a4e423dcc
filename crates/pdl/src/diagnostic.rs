//! Diagnostics of a file: code, message, place and remedy.

use crate::source::{Sources, Span};
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use serde_json::json;
use std::{io, path::Path};

/// Every diagnostic's stable code; `docs/reference/pdl-errors.md` has an example of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Code {
    UnexpectedToken,
    UnknownCharacter,
    Unterminated,
    BadUuid,
    BadVersion,
    UnknownAttribute,
    RepeatedAttribute,
    BadAttribute,
    MissingUuid,
    UnknownName,
    WrongKind,
    DuplicateName,
    DuplicateUuid,
    InheritanceCycle,
    StructCycle,
    IncludeNotFound,
    IncludeCycle,
    TooDeep,
    EmptyFile,
    UnreadableFile,
    TooManyMetrics,
    UnknownUnit,
    NumberDoesNotFit,
    DuplicateValue,
    LimitOnWrongType,
    LimitsReversed,
    LimitOutOfRange,
    UnknownEnumerator,
    RateOutOfRange,
    /// Only of `oasis pdl compile --lang idl`.
    NotInIdl,
    /// Only of `oasis pdl compile --lang c99`.
    NotInC99,
    /// A warning.
    BuiltInColumn,
    BadBlob,
}

impl Code {
    /// `E0001` and so on.
    pub fn name(self) -> String {
        format!("E{:04}", self as u16 + 1)
    }
}

/// The codes of a language whose compiler reports with [`Diagnostic`].
pub trait ErrorCode: Copy {
    /// Returns its name in messages.
    fn name(self) -> String;

    /// Whether it is a warning: what it is about is valid.
    fn is_warning(self) -> bool {
        false
    }
}

impl ErrorCode for Code {
    fn name(self) -> String {
        Self::name(self)
    }

    fn is_warning(self) -> bool {
        matches!(self, Self::BuiltInColumn)
    }
}

/// An error in a file: by default a PDL file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic<C = Code> {
    /// Its code.
    pub code: C,
    /// One sentence.
    pub message: String,
    /// Its place, if it has one in a text.
    pub place: Option<Span>,
    /// The text at the place.
    pub label: String,
    /// Other places that matter.
    pub related: Vec<(Span, String)>,
    /// The rule.
    pub note: Option<String>,
    /// The remedy.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A file that could not be read has no place in any text.
    pub fn unreadable(path: &Path, error: &io::Error) -> Self {
        Self::without_place(Code::UnreadableFile, format!("cannot read {}: {error}", path.display()))
    }
}

impl<C: ErrorCode> Diagnostic<C> {
    /// Creates an error at a place; the label is the text beside the mark.
    pub fn new(code: C, place: Span, message: impl Into<String>, label: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            place: Some(place),
            label: label.into(),
            related: Vec::new(),
            note: None,
            help: None,
        }
    }

    /// Creates an error that has no place in any text.
    pub fn without_place(code: C, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            place: None,
            label: String::new(),
            related: Vec::new(),
            note: None,
            help: None,
        }
    }

    /// Adds another place that matters.
    pub fn related(mut self, place: Span, label: impl Into<String>) -> Self {
        self.related.push((place, label.into()));
        self
    }

    /// Adds the rule.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }

    /// Adds the remedy.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds a note with the cycle if it has more than one declaration.
    pub(crate) fn cycle_note<'a>(self, cycle: impl Iterator<Item = &'a str>, verb: &str) -> Self {
        let mut names: Vec<String> = cycle.map(|name| format!("`{name}`")).collect();
        if names.len() == 1 {
            return self;
        }
        names.extend(names.first().cloned());
        self.note(names.join(&format!(" {verb} ")))
    }

    /// Returns text for people: the message, the source with the place marked, note and help.
    pub fn render(&self, sources: &Sources, colors: bool) -> String {
        let code = self.code.name();
        let level = if self.code.is_warning() { Level::WARNING } else { Level::ERROR };
        let title = level.primary_title(&self.message).id(&code);
        let mut files: Vec<_> = self
            .place
            .iter()
            .chain(self.related.iter().map(|(place, _)| place))
            .map(|span| span.file)
            .collect();
        files.dedup();
        let mut group = Group::with_title(title);
        for file in files {
            let path = sources.path(file).to_string_lossy();
            let mut snippet = Snippet::source(sources.text(file)).path(path.into_owned());
            if let Some(place) = self.place.filter(|place| place.file == file) {
                snippet = snippet
                    .annotation(AnnotationKind::Primary.span(place.start..place.end).label(&self.label));
            }
            for (place, label) in self.related.iter().filter(|(place, _)| place.file == file) {
                snippet =
                    snippet.annotation(AnnotationKind::Context.span(place.start..place.end).label(label));
            }
            group = group.element(snippet);
        }
        if let Some(note) = &self.note {
            group = group.element(Level::NOTE.message(note));
        }
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(help));
        }
        let renderer = if colors { Renderer::styled() } else { Renderer::plain() };
        renderer.render(&[group])
    }

    /// Returns JSON for programs: one object; lines and columns count from 1.
    pub fn to_json(&self, sources: &Sources) -> serde_json::Value {
        let place = |span: Span, label: &str| {
            let (line, column) = sources.line_and_column(span);
            let (end_line, end_column) = sources.line_and_column(Span { start: span.end, ..span });
            json!({
                "file": sources.path(span.file).to_string_lossy(), "line": line, "column": column,
                "end_line": end_line, "end_column": end_column, "label": label,
            })
        };
        json!({
            "severity": if self.code.is_warning() { "warning" } else { "error" },
            "code": self.code.name(),
            "message": self.message,
            "place": self.place.map(|span| place(span, &self.label)),
            "related": self.related.iter().map(|(span, label)| place(*span, label)).collect::<Vec<_>>(),
            "note": self.note,
            "help": self.help,
        })
    }
}

/// `a probe`, `an enum`.
pub(crate) fn with_article(noun: &str) -> String {
    let article = if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {noun}")
}

/// Returns the known name most similar to `wanted`, if any is similar.
pub fn nearest<'a>(wanted: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let length = wanted.chars().count();
    let limit = length.div_ceil(3).min(length.saturating_sub(1));
    known
        // Each character more is a difference.
        .filter(|name| name.chars().count().abs_diff(length) <= limit)
        .map(|name| (distance(wanted, name), name))
        .filter(|&(distance, _)| distance <= limit)
        .min()
        .map(|(_, name)| name)
}

/// Names of types in other languages, with the simple type of each.
const OTHER_TYPES: [(&str, &[&str]); 12] = [
    ("boolean", &["bool", "Boolean"]),
    ("uint8", &["byte", "u8", "uchar"]),
    ("int8", &["char", "i8"]),
    ("int16", &["short", "i16"]),
    ("uint16", &["ushort", "u16"]),
    ("int32", &["int", "integer", "i32"]),
    ("uint32", &["uint", "unsigned", "u32"]),
    ("int64", &["long", "i64"]),
    ("uint64", &["ulong", "u64", "size_t"]),
    ("real32", &["float", "float32", "f32"]),
    ("real64", &["double", "float64", "f64", "real", "number"]),
    ("string", &["str", "text", "wstring"]),
];

/// Returns the simple type for a type name of another language.
pub(crate) fn simple_for(name: &str) -> Option<&'static str> {
    OTHER_TYPES.iter().find(|(_, others)| others.contains(&name)).map(|(simple, _)| *simple)
}

/// Names of types in other languages.
pub(crate) fn other_types() -> impl Iterator<Item = &'static str> {
    OTHER_TYPES.iter().flat_map(|(_, others)| others.iter().copied())
}

/// Edit distance, case aside: characters that are added, left out, replaced, or swapped with the next one.
pub(crate) fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.to_lowercase().chars().collect();
    // The row of the letter before, and of the one before that.
    let mut last: Vec<usize> = (0..=right.len()).collect();
    let (mut before_last, mut row) = (last.clone(), last.clone());
    let mut letter_before = None;
    for (i, letter) in left.to_lowercase().chars().enumerate() {
        row[0] = i + 1;
        for (j, other) in right.iter().enumerate() {
            let replaced = last[j] + usize::from(letter != *other);
            row[j + 1] = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            let is_swap = j > 0 && letter == right[j - 1] && letter_before == Some(*other);
            if is_swap {
                row[j + 1] = row[j + 1].min(before_last[j - 1] + 1);
            }
        }
        std::mem::swap(&mut before_last, &mut last);
        std::mem::swap(&mut last, &mut row);
        letter_before = Some(letter);
    }
    last[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swapped_letters_are_one_difference() {
        for (left, right, expected) in [
            ("unit8", "uint8", 1),
            ("unit8", "int8", 2),
            ("flot32", "float32", 1),
            ("", "ab", 2),
            ("Ab", "aB", 0),
        ] {
            assert_eq!(distance(left, right), expected, "{left} {right}");
            assert_eq!(distance(right, left), expected, "{right} {left}");
        }
    }
}
