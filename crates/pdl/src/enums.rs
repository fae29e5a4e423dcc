//! Assigns numbers to enumerators: the number in the file, or one more than the number of the enumerator before.

use crate::{
    ast,
    diagnostic::{Code, Diagnostic},
    model::{Enum, Enumerator, NameSpan, Number},
    number,
    source::Span,
};
use std::collections::HashMap;

/// An enum, and where each enumerator stands in it.
pub struct EnumIndex {
    pub declared: Enum,
    by_name: HashMap<String, usize>,
}

impl EnumIndex {
    /// Returns the enumerator with this name; if there are two, the first.
    pub fn enumerator(&self, name: &str) -> Option<&Enumerator> {
        self.declared.enumerators.get(*self.by_name.get(name)?)
    }
}

/// Numbers the enumerators of one enum; names and numbers must differ.
pub fn resolve(scoped: String, declared: &ast::Enum, wrong: &mut Vec<Diagnostic>) -> EnumIndex {
    let mut names = HashMap::new();
    let mut numbers = HashMap::new();
    let mut enumerators = Vec::new();
    // `None` after an invalid number: its consequences are not reported.
    let mut next = Some(0);
    for enumerator in &declared.enumerators {
        let name = &enumerator.name;
        if let Some(first) = names.insert(name.text.as_str(), name.span) {
            let message = format!("`{}` is declared twice", name.text);
            let diagnostic = Diagnostic::new(Code::DuplicateName, name.span, message, "again here");
            wrong.push(diagnostic.related(first, "first here"));
        }
        let value = number(declared, enumerator, next, wrong);
        next = value.map(|value| value + 1);
        if let Some(value) = value
            && let Some((other, first)) = numbers.insert(value, (name.text.as_str(), name.span))
            && other != name.text
        {
            wrong.push(duplicate(enumerator, other, first, value));
        }
        // An enumerator with a refused number keeps its name.
        let value = value.unwrap_or_default();
        let place = NameSpan(name.span);
        enumerators.push(Enumerator { name: name.text.clone(), doc: enumerator.doc.clone(), value, place });
    }
    let place = NameSpan(declared.name.span);
    let names = enumerators.iter().enumerate().rev();
    let by_name = names.map(|(index, known)| (known.name.clone(), index)).collect();
    let declared = Enum { name: scoped, doc: declared.doc.clone(), base: declared.base, enumerators, place };
    EnumIndex { declared, by_name }
}

fn number(
    declared: &ast::Enum,
    enumerator: &ast::Enumerator,
    next: Option<i64>,
    wrong: &mut Vec<Diagnostic>,
) -> Option<i64> {
    let number = match enumerator.value {
        Some(number) => number,
        None => ast::Number { value: Number::Integer(next?.into()), span: enumerator.name.span },
    };
    if let Some(diagnostic) = number::misfit(number, declared.base) {
        wrong.push(match number.value {
            Number::Integer(_) => diagnostic.help("put a wider type after the enum's name: `: int32`"),
            Number::Real(_) => diagnostic,
        });
        return None;
    }
    match number.value {
        Number::Integer(value) => i64::try_from(value).ok(),
        Number::Real(_) => None,
    }
}

fn duplicate(enumerator: &ast::Enumerator, other: &str, first: Span, value: i64) -> Diagnostic {
    let place = enumerator.value.map_or(enumerator.name.span, |number| number.span);
    let message = format!("`{other}` and `{}` are both {value}", enumerator.name.text);
    Diagnostic::new(Code::DuplicateValue, place, message, "duplicate number")
        .related(first, format!("`{other}` is {value}"))
}
