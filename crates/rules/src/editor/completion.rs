//! Completions at a place.

use super::{
    clause::{ExpectedSyntax, expected_syntax},
    context::{context, pieces},
    names::{DeclaredNames, EditorCatalog, described},
};
use crate::{message::Placeholder, unit::Unit};
use oasis_pdl::unit_symbols;
use oasis_wire::schema::{Metric, MetricType};
use std::collections::BTreeSet;

/// Most completions at once: the word at the place already filters them.
const MAX_COMPLETIONS: usize = 200;
/// Units with a prefix that people use.
const UNITS: [&str; 26] = [
    "ms", "us", "s", "min", "h", "kHz", "MHz", "kBy", "MBy", "GBy", "KiBy", "MiBy", "GiBy", "km", "mm", "cm",
    "kg", "km/h", "m/s", "mm/s", "l/min", "Cel/s", "K/s", "1/min", "kW", "mbar",
];
/// Units of durations.
const TIMES: [&str; 5] = ["s", "ms", "min", "h", "us"];
/// Functions and how they are used.
pub const FUNCTIONS: [(&str, &str, &str); 14] = [
    ("mean", "mean(x, WINDOW)", "The mean of a window."),
    ("min", "min(x, WINDOW)", "The least value of a window."),
    ("max", "max(x, WINDOW)", "The greatest value of a window."),
    ("sum", "sum(x, WINDOW)", "The sum of a window."),
    ("count", "count(c, WINDOW)", "How many samples of a window satisfy a condition."),
    ("rate", "rate(x, WINDOW)", "The change per second over a window; without one from the sample before."),
    ("rising", "rising(c)", "True at the sample at which a condition becomes true."),
    ("falling", "falling(c)", "True at the sample at which a condition becomes false."),
    ("silent", "silent(input)", "No sample; only as `raise silent(input) for DURATION;`."),
    ("abs", "abs(x)", "The value without its sign."),
    ("sqrt", "sqrt(x)", "The square root."),
    ("hold", "hold(x, DURATION)", "The newest value of another input, unless it is older; without one 10 s."),
    (
        "linear",
        "linear(x, DURATION)",
        "Another input on the line between its samples before and after, unless one of them is farther away; without one 10 s.",
    ),
    (
        "nearest",
        "nearest(x, DURATION)",
        "The nearest value of another input, unless it is farther away in time; without one 10 s.",
    ),
];

/// The completions at a place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Completions {
    /// The byte from which on a completion replaces the text before the place.
    pub from: usize,
    /// In a useful order.
    pub items: Vec<Completion>,
}

/// A text that can stand at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// The text.
    pub label: String,
    /// Kind of the text.
    pub kind: CompletionKind,
    /// More about it, on one line.
    pub detail: String,
}

/// Kind of a completion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum CompletionKind {
    Keyword,
    Input,
    Metric,
    Field,
    Function,
    Unit,
    Enumerator,
    Type,
    Instance,
    Placeholder,
}

impl CompletionKind {
    /// As in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Keyword => "keyword",
            Self::Input => "input",
            Self::Metric => "metric",
            Self::Field => "field",
            Self::Function => "function",
            Self::Unit => "unit",
            Self::Enumerator => "enumerator",
            Self::Type => "type",
            Self::Instance => "instance",
            Self::Placeholder => "placeholder",
        }
    }
}

/// Returns what can stand at a byte of a text, filtered by what is written there already.
///
/// ```
/// use oasis_rules::{EditorCatalog, complete};
///
/// let text = "alarm Hot { sev";
/// let found = complete(text, text.len(), &EditorCatalog::default());
/// assert_eq!((found.from, &*found.items[0].label), (12, "severity"));
/// ```
pub fn complete(text: &str, offset: usize, around: &EditorCatalog) -> Completions {
    let Some(context) = context(text, offset) else {
        return Completions { from: offset.min(text.len()), items: Vec::new() };
    };
    let tokens = pieces(text);
    let mut list =
        List { declared: DeclaredNames::of(&tokens), around, word: context.word, items: Vec::new() };
    match expected_syntax(&context) {
        ExpectedSyntax::Nothing => {}
        ExpectedSyntax::Words(words) => list.words(&words),
        ExpectedSyntax::Type => list.types(),
        ExpectedSyntax::Instance => list.instances(""),
        ExpectedSyntax::Target => {
            list.inputs();
            list.instances("\"");
        }
        ExpectedSyntax::Placeholder => list.placeholders(),
        ExpectedSyntax::Member(path) => list.members(&path),
        ExpectedSyntax::Compared(path) => {
            list.enumerators(&path);
            list.values();
        }
        ExpectedSyntax::Unit(compared, words) => {
            list.units(compared.as_deref());
            list.words(&words);
        }
        ExpectedSyntax::Value => list.values(),
    }
    let from = match context.is_quoted && !list.items.is_empty() && list.items.iter().all(is_placeholder) {
        // A placeholder follows other text.
        true => context.start + context.word.rfind('{').unwrap_or(context.word.len()),
        false => context.start,
    };
    Completions { from, items: list.items }
}

fn is_placeholder(item: &Completion) -> bool {
    item.kind == CompletionKind::Placeholder
}

struct List<'a> {
    declared: DeclaredNames<'a>,
    around: &'a EditorCatalog,
    word: &'a str,
    items: Vec<Completion>,
}

impl List<'_> {
    /// Adds what continues the word, however its letters are written.
    fn add(&mut self, label: impl Into<String>, kind: CompletionKind, detail: impl Into<String>) {
        let label = label.into();
        let word = self.word.to_lowercase();
        let is_wanted = match kind {
            CompletionKind::Instance | CompletionKind::Type => label.to_lowercase().contains(&word),
            _ => label.to_lowercase().starts_with(&word),
        };
        if is_wanted && self.items.len() < MAX_COMPLETIONS {
            self.items.push(Completion { label, kind, detail: detail.into() });
        }
    }

    fn words(&mut self, words: &[&'static str]) {
        words.iter().for_each(|word| self.add(*word, CompletionKind::Keyword, ""));
    }

    fn types(&mut self) {
        let mut seen = BTreeSet::new();
        for known in self.around.types.iter().rev() {
            if seen.insert(&known.name) {
                let is_path = known.name.split("::").all(is_identifier);
                let label = if is_path { known.name.clone() } else { format!("\"{}\"", known.name) };
                self.add(label, CompletionKind::Type, known.doc.as_deref().unwrap_or_default());
            }
        }
        self.items.sort_by(|one, other| one.label.cmp(&other.label));
    }

    /// Names of instances, first those of all nodes.
    fn instances(&mut self, quote: &str) {
        let around = self.around;
        let mut of_all: Vec<_> =
            around.instances.iter().map(|known| (&known.instance, &known.probe_type)).collect();
        of_all.sort();
        of_all.dedup();
        for (instance, probe_type) in of_all {
            self.add(format!("{quote}*/{instance}{quote}"), CompletionKind::Instance, probe_type);
        }
        for known in &around.instances {
            let label = format!("{quote}{}/{}{quote}", known.node, known.instance);
            self.add(label, CompletionKind::Instance, &known.probe_type);
        }
    }

    fn placeholders(&mut self) {
        self.word = self.word.rfind('{').and_then(|brace| self.word.get(brace..)).unwrap_or_default();
        for (name, _) in Placeholder::ALL {
            self.add(format!("{{{name}}}"), CompletionKind::Placeholder, "");
        }
    }

    fn inputs(&mut self) {
        for (name, pattern, probe_type) in std::mem::take(&mut self.declared.inputs) {
            self.add(name, CompletionKind::Input, format!("{pattern} : {probe_type}"));
        }
    }

    fn members(&mut self, path: &[&str]) {
        if let [name] = path
            && let Some((_, fields)) = self.declared.derived.iter().find(|(known, _)| known == name)
        {
            let fields = fields.clone();
            return fields
                .into_iter()
                .for_each(|field| self.add(field, CompletionKind::Field, format!("of {name}")));
        }
        let metrics = self.declared.metrics(path, self.around).unwrap_or_default();
        for metric in metrics.iter().filter(|metric| is_readable(metric)) {
            self.add(&metric.name, CompletionKind::Metric, described(metric));
        }
    }

    fn enumerators(&mut self, path: &[&str]) {
        let metric = self.declared.metric(path, self.around);
        let enumeration = metric.and_then(|metric| metric.enumeration.as_ref());
        for value in enumeration.into_iter().flat_map(|of| &of.values) {
            self.add(&value.name, CompletionKind::Enumerator, value.doc.as_deref().unwrap_or_default());
        }
    }

    fn values(&mut self) {
        self.inputs();
        for (name, fields) in std::mem::take(&mut self.declared.derived) {
            self.add(name, CompletionKind::Input, format!("derived: {}", fields.join(", ")));
        }
        FUNCTIONS.iter().for_each(|(name, usage, _)| self.add(*name, CompletionKind::Function, *usage));
        self.words(&["not", "last"]);
    }

    /// Units of the dimension of a metric; of a duration without one.
    fn units(&mut self, path: Option<&[&str]>) {
        let Some(path) = path else {
            return TIMES.iter().for_each(|unit| self.add(*unit, CompletionKind::Unit, ""));
        };
        let metric = self.declared.metric(path, self.around);
        let Some(own) = metric.and_then(|metric| metric.unit.as_deref()) else { return };
        let Ok(unit) = Unit::parse(own) else { return };
        self.add(own, CompletionKind::Unit, "the unit of the metric");
        for other in UNITS.into_iter().chain(unit_symbols()) {
            let is_known = other == own || self.items.iter().any(|item| item.label == other);
            let fits = !is_known && Unit::parse(other).is_ok_and(|other| other.is_same_dimension(&unit));
            if fits {
                self.add(other, CompletionKind::Unit, "");
            }
        }
    }
}

fn is_identifier(name: &str) -> bool {
    let mut letters = name.chars();
    let is_letter = |letter: char| letter.is_ascii_alphabetic() || letter == '_';
    letters.next().is_some_and(is_letter)
        && letters.all(|letter| is_letter(letter) || letter.is_ascii_digit())
}

fn is_readable(metric: &Metric) -> bool {
    !matches!(metric.kind, MetricType::String | MetricType::Vector(_) | MetricType::Blob(_))
}
