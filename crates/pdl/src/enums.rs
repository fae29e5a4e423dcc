//! Enumerators get their numbers: each the one that is written, or one more than the enumerator before.

use crate::{
    ast,
    diagnostic::{Code, Diagnostic},
    model::{Enum, Enumerator, Number},
    source::Span,
};
use std::collections::HashMap;

/// Numbers the enumerators of one enum; names and numbers must differ.
pub fn resolve(scoped: String, declared: &ast::Enum, wrong: &mut Vec<Diagnostic>) -> Enum {
    let mut names = HashMap::new();
    let mut numbers = HashMap::new();
    let mut enumerators = Vec::new();
    // None behind a number that made no sense: what follows from it is not reported.
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
        let Some(value) = value else { continue };
        if let Some((other, first)) = numbers.insert(value, (name.text.as_str(), name.span))
            && other != name.text
        {
            wrong.push(duplicate(enumerator, other, first, value));
        }
        enumerators.push(Enumerator { name: name.text.clone(), doc: enumerator.doc.clone(), value });
    }
    Enum { name: scoped, doc: declared.doc.clone(), base: declared.base, enumerators }
}

fn number(
    declared: &ast::Enum,
    enumerator: &ast::Enumerator,
    next: Option<i64>,
    wrong: &mut Vec<Diagnostic>,
) -> Option<i64> {
    let (value, place) = match enumerator.value {
        Some(number) => (number.value, number.span),
        None => (Number::Integer(next?.into()), enumerator.name.span),
    };
    let (least, greatest) = declared.base.integers()?;
    match value {
        Number::Integer(value) if (least..=greatest).contains(&value) => i64::try_from(value).ok(),
        Number::Integer(value) => {
            let base = declared.base.name();
            let message = format!("{value} does not fit `{base}`");
            let diagnostic =
                Diagnostic::new(Code::NumberDoesNotFit, place, message, "too small or too large");
            let help = "name a wider type behind the enum's name: `: int32`";
            wrong.push(diagnostic.note(format!("`{base}` holds {least} to {greatest}")).help(help));
            None
        }
        Number::Real(_) => {
            let message = "an enumerator has a whole number";
            wrong.push(Diagnostic::new(Code::NumberDoesNotFit, place, message, "not a whole number"));
            None
        }
    }
}

fn duplicate(enumerator: &ast::Enumerator, other: &str, first: Span, value: i64) -> Diagnostic {
    let place = enumerator.value.map_or(enumerator.name.span, |number| number.span);
    let message = format!("`{other}` and `{}` are both {value}", enumerator.name.text);
    Diagnostic::new(Code::DuplicateValue, place, message, "the same number")
        .related(first, format!("`{other}` is {value}"))
}
