//! Checks `min`, `max`, `warn` and `alarm` against the type of the metric. Those of a vector apply to its elements.

use crate::{
    ast::{self, Condition},
    diagnostic::{Code, Diagnostic, nearest},
    enums::EnumIndex,
    model::{Limits, Primitive, Threshold, Type},
    number,
    source::Span,
};
use std::collections::HashMap;

/// Most enumerators that an unknown one is compared with.
const MAX_COMPARED: usize = 256;

/// Checks the limits of a metric of this type.
pub fn resolve(
    limits: &ast::Limits,
    kind: &Type,
    enums: &HashMap<String, EnumIndex>,
    wrong: &mut Vec<Diagnostic>,
) -> Limits {
    match kind {
        Type::Vector(element) => resolve(limits, element, enums, wrong),
        Type::Primitive(simple) if simple.is_number() => numeric(limits, *simple, wrong),
        Type::Enum(name) => enums.get(name).map(|of| enumerated(limits, of, wrong)).unwrap_or_default(),
        Type::Primitive(simple) => none(limits, simple.name(), wrong),
        Type::Struct(name) => none(limits, name, wrong),
        Type::Blob(_) => none(limits, "blob", wrong),
    }
}

/// Reports the limits of a type that cannot have any.
fn none(limits: &ast::Limits, name: &str, wrong: &mut Vec<Diagnostic>) -> Limits {
    let range = limits.min.iter().chain(&limits.max).map(|number| number.span);
    let first = range.chain(conditions(limits).map(Condition::span)).min_by_key(|span| span.start);
    if let Some(place) = first {
        let message = format!("`{name}` cannot have limits");
        let note = "numbers accept `min`, `max`, `warn` and `alarm`; enums accept `warn` and `alarm`";
        wrong.push(wrong_type(place, message, "not allowed for this type").note(note));
    }
    Limits::default()
}

fn enumerated(limits: &ast::Limits, of: &EnumIndex, wrong: &mut Vec<Diagnostic>) -> Limits {
    for number in limits.min.iter().chain(&limits.max) {
        let message = format!("enum `{}` cannot have a range", of.declared.name);
        wrong.push(wrong_type(number.span, message, "not allowed for an enum"));
    }
    let mut threshold = |conditions: &[Condition]| {
        let values = conditions.iter().filter_map(|condition| match condition {
            Condition::Is(name) => value(name, of, wrong),
            Condition::Below(number) | Condition::Above(number) => {
                let message = format!("the limits of enum `{}` must be enumerators", of.declared.name);
                let help = "list enumerators: `warn(DEGRADED, FAILED)`";
                wrong.push(wrong_type(number.span, message, "not allowed for an enum").help(help));
                None
            }
        });
        Threshold { values: values.collect(), ..Threshold::default() }
    };
    Limits { min: None, max: None, warn: threshold(&limits.warn), alarm: threshold(&limits.alarm) }
}

/// The number of an enumerator.
fn value(name: &ast::Name, of: &EnumIndex, wrong: &mut Vec<Diagnostic>) -> Option<i64> {
    let found = of.enumerator(&name.text);
    if found.is_none() {
        let message = format!("enum `{}` has no enumerator `{}`", of.declared.name, name.text);
        let mut diagnostic =
            Diagnostic::new(Code::UnknownEnumerator, name.span, message, "unknown enumerator");
        let names =
            of.declared.enumerators.iter().take(MAX_COMPARED).map(|enumerator| enumerator.name.as_str());
        diagnostic.help = nearest(&name.text, names).map(|known| format!("did you mean `{known}`?"));
        wrong.push(diagnostic);
    }
    found.map(|enumerator| enumerator.value)
}

fn numeric(limits: &ast::Limits, simple: Primitive, wrong: &mut Vec<Diagnostic>) -> Limits {
    let mut fits = |number: &ast::Number| {
        let misfit = number::misfit(*number, simple);
        let fits = misfit.is_none();
        wrong.extend(misfit);
        fits
    };
    let (min, max) = (limits.min.filter(&mut fits), limits.max.filter(&mut fits));
    let (warn, alarm) = (bounds(&limits.warn, &mut fits), bounds(&limits.alarm, &mut fits));
    for condition in conditions(limits) {
        if let Condition::Is(name) = condition {
            let message = format!("the limits of `{}` must be numbers", simple.name());
            let diagnostic = wrong_type(name.span, message, "expected `<` or `>`");
            wrong.push(diagnostic.help("write `< 5` or `> 80`"));
        }
    }
    check_order(warn, "`warn`", wrong);
    check_order(alarm, "`alarm`", wrong);
    // A reversed range contains no value.
    if check_order((min, max), "the range", wrong) {
        for limit in [warn.0, warn.1, alarm.0, alarm.1].into_iter().flatten() {
            check_inside(limit, (min, max), wrong);
        }
    }
    let value = |number: Option<ast::Number>| number.map(|number| number.value);
    let threshold =
        |(below, above): Bounds| Threshold { below: value(below), above: value(above), values: Vec::new() };
    Limits { min: value(min), max: value(max), warn: threshold(warn), alarm: threshold(alarm) }
}

/// The lower and the upper one.
type Bounds = (Option<ast::Number>, Option<ast::Number>);

fn bounds(conditions: &[Condition], mut fits: impl FnMut(&ast::Number) -> bool) -> Bounds {
    let mut bounds = (None, None);
    for condition in conditions {
        match condition {
            Condition::Below(number) if fits(number) => bounds.0 = Some(*number),
            Condition::Above(number) if fits(number) => bounds.1 = Some(*number),
            _ => {}
        }
    }
    bounds
}

/// A lower bound above the upper one leaves nothing between them.
fn check_order(bounds: Bounds, what: &str, wrong: &mut Vec<Diagnostic>) -> bool {
    if let (Some(lower), Some(upper)) = bounds
        && upper.value.is_less_than(lower.value)
    {
        let message = format!("the lower bound of {what} is greater than its upper bound");
        let diagnostic = Diagnostic::new(Code::LimitsReversed, upper.span, message, "upper bound");
        wrong.push(diagnostic.related(lower.span, "lower bound"));
        return false;
    }
    true
}

/// A limit that no value in the range can pass was meant for another range.
fn check_inside(limit: ast::Number, (min, max): Bounds, wrong: &mut Vec<Diagnostic>) {
    let passed = min
        .filter(|min| limit.value.is_less_than(min.value))
        .or(max.filter(|max| max.value.is_less_than(limit.value)));
    if let Some(bound) = passed {
        let message = "limit is outside the metric's range";
        let diagnostic = Diagnostic::new(Code::LimitOutOfRange, limit.span, message, "outside");
        wrong.push(diagnostic.related(bound.span, "end of the range"));
    }
}

fn conditions(limits: &ast::Limits) -> impl Iterator<Item = &Condition> {
    limits.warn.iter().chain(&limits.alarm)
}

fn wrong_type(place: Span, message: String, label: &str) -> Diagnostic {
    Diagnostic::new(Code::LimitOnWrongType, place, message, label)
}
