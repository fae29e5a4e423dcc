//! The texts of notifications: `Pump {node} is hot: {value}`.

/// Longest text of a notification, in bytes.
pub const MAX_MESSAGE: usize = 256;

/// A word in braces in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placeholder {
    /// The name of the rule.
    Rule,
    /// The name of the node.
    Node,
    /// The name of the instance.
    Instance,
    /// The value that was compared.
    Value,
    /// The limit that the value was compared with.
    Limit,
    /// When the condition became true.
    Since,
}

impl Placeholder {
    /// All of them, by name.
    pub const ALL: [(&'static str, Self); 6] = [
        ("rule", Self::Rule),
        ("node", Self::Node),
        ("instance", Self::Instance),
        ("value", Self::Value),
        ("limit", Self::Limit),
        ("since", Self::Since),
    ];

    /// As written between the braces.
    pub fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(_, placeholder)| *placeholder == self).map_or("", |(name, _)| name)
    }
}

/// A part of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part<'a> {
    Text(&'a str),
    Placeholder(Placeholder),
    /// Braces that contain no placeholder, or a brace without the other one.
    Wrong(&'a str),
}

/// The parts of a message, in their order.
pub fn parts(message: &str) -> impl Iterator<Item = Part<'_>> {
    let mut rest = message;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (part, length) = first(rest);
        rest = &rest[length..];
        Some(part)
    })
}

/// The first part of a text that is not empty, and its length in bytes.
fn first(text: &str) -> (Part<'_>, usize) {
    let brace = text.find(['{', '}']).unwrap_or(text.len());
    if brace > 0 {
        return (Part::Text(&text[..brace]), brace);
    }
    let Some(end) = text.find('}').filter(|_| text.starts_with('{')) else {
        return (Part::Wrong(&text[..1]), 1);
    };
    let known = Placeholder::ALL.into_iter().find(|(name, _)| *name == &text[1..end]);
    let wrong = Part::Wrong(&text[..=end]);
    (known.map_or(wrong, |(_, placeholder)| Part::Placeholder(placeholder)), end + 1)
}

/// A value for people: six digits, and its unit.
///
/// ```
/// assert_eq!(oasis_rules::readable(98.10554993010096, Some("Cel")), "98.1055 Cel");
/// assert_eq!(oasis_rules::readable(-1e9, None), "-1000000000");
/// ```
pub fn readable(value: f64, unit: Option<&str>) -> String {
    let rounded = format!("{value:.5e}").parse().unwrap_or(value);
    unit.map_or_else(|| rounded.to_string(), |unit| format!("{rounded} {unit}"))
}

/// Fills in the placeholders of a message. `-` stands for what `value` does not know.
///
/// ```
/// use oasis_rules::{Placeholder, fill};
///
/// let text = fill("Pump {node} is hot: {value}", |of| (of == Placeholder::Node).then(|| "plant-7".into()));
/// assert_eq!(text, "Pump plant-7 is hot: -");
/// ```
pub fn fill(message: &str, value: impl Fn(Placeholder) -> Option<String>) -> String {
    let mut text = String::with_capacity(message.len());
    for part in parts(message) {
        match part {
            Part::Text(part) | Part::Wrong(part) => text.push_str(part),
            Part::Placeholder(placeholder) => {
                text.push_str(&value(placeholder).unwrap_or_else(|| "-".to_owned()));
            }
        }
    }
    text
}
