//! Times: `extract`, intervals, and arithmetic that SQLite would get wrong.

use super::{operand, token::Kind, tree::Node};
use crate::failure::SqlFailure;

/// Columns that are times.
const TIME_COLUMNS: &[&str] = &[
    "time",
    "until",
    "written",
    "started",
    "stopped",
    "last_seen",
    "first",
    "last",
    "raised",
    "cleared",
    "shelved_until",
];
/// Functions whose result is a time.
const TIME_FUNCTIONS: &[&str] = &[
    "now",
    "clock_timestamp",
    "statement_timestamp",
    "transaction_timestamp",
    "date_trunc",
    "date_bin",
    "time_bucket",
    "to_timestamp",
    "pg_time",
    "pg_date",
    "pg_add_interval",
];
/// Functions whose result is a time if their argument is.
const PASSING_FUNCTIONS: &[&str] =
    &["min", "max", "coalesce", "first_value", "last_value", "lag", "lead", "least", "greatest"];

/// Whether an operand is a time.
fn is_time(operand: &[Node]) -> bool {
    let named = |node: &Node, names: &[&str]| {
        node.leaf().is_some_and(|token| token.is_name() && names.contains(&token.name().as_str()))
    };
    match operand {
        [.., name, group] if group.round().is_some() => {
            let inside = group.round().unwrap_or_default();
            let first = operand::split(inside).first().copied().unwrap_or_default();
            named(name, TIME_FUNCTIONS) || named(name, PASSING_FUNCTIONS) && is_time(first)
        }
        [group] if group.round().is_some() => is_time(group.round().unwrap_or_default()),
        [.., column] => named(column, TIME_COLUMNS),
        [] => false,
    }
}

/// Replaces `extract(field FROM x)`. The difference of two times is one of seconds.
pub fn extract(inside: &[Node], at: usize) -> Option<Vec<Node>> {
    let [field, from, value @ ..] = inside else { return None };
    if !from.is_word("from") || value.is_empty() {
        return None;
    }
    let field = match field.leaf()? {
        token if token.kind == Kind::Text => token.content(),
        token => token.name(),
    };
    let part = |value: &[Node]| {
        let arguments = [&[Node::text(&field, at), Node::operator(",", at)], value].concat();
        Node::call("date_part", arguments, at)
    };
    let minus = value.iter().position(|node| node.is_operator("-"));
    let both = minus.map(|minus| (&value[..minus], &value[minus + 1..]));
    Some(match both.filter(|(a, b)| is_time(a) && is_time(b)) {
        Some((a, b)) if field == "epoch" => {
            let difference = [&part(a)[..], &[Node::operator("-", at)], &part(b)].concat();
            vec![Node::group(difference, at)]
        }
        _ => part(value).into(),
    })
}

/// Replaces `x + INTERVAL '5 minutes'` and `x - '5 minutes'::interval`; other intervals become their text.
pub fn intervals(nodes: Vec<Node>) -> Result<Vec<Node>, SqlFailure> {
    let mut out: Vec<Node> = Vec::with_capacity(nodes.len());
    let mut at = 0;
    while let Some(node) = nodes.get(at) {
        let is_text =
            |at: usize| nodes.get(at).and_then(Node::leaf).is_some_and(|token| token.kind == Kind::Text);
        let is_cast = nodes.get(at + 1).is_some_and(|node| node.is_operator("::"))
            && nodes.get(at + 2).is_some_and(|node| node.is_word("interval"));
        let (text, next) = match () {
            () if node.is_word("interval") && is_text(at + 1) => (&nodes[at + 1], at + 2),
            () if is_text(at) && is_cast => (node, at + 3),
            () => {
                out.push(node.clone());
                at += 1;
                continue;
            }
        };
        let sign =
            out.last().and_then(Node::leaf).filter(|last| last.is_operator("+") || last.is_operator("-"));
        let sign = sign.map(|sign| sign.text.clone());
        let begin = sign.as_ref().and_then(|_| operand::begin(&out[..out.len() - 1]));
        match sign.zip(begin) {
            Some((sign, begin)) => {
                out.pop();
                let place = text.at();
                let mut arguments = out.split_off(begin);
                arguments.extend([Node::operator(",", place), Node::text(&sign, place)]);
                arguments.extend([Node::operator(",", place), text.clone()]);
                out.extend(Node::call("pg_add_interval", arguments, place));
            }
            None => out.push(text.clone()),
        }
        at = next;
    }
    Ok(out)
}

/// Refuses arithmetic with times, which SQLite would do with the year alone.
pub fn check_arithmetic(nodes: &[Node]) -> Result<(), SqlFailure> {
    for (at, node) in nodes.iter().enumerate() {
        if let Node::Group { nodes, .. } = node {
            check_arithmetic(nodes)?;
        }
        let is_arithmetic = ["+", "-", "*", "/", "%"].iter().any(|operator| node.is_operator(operator));
        if !is_arithmetic {
            continue;
        }
        let left = operand::begin(&nodes[..at]).map(|begin| &nodes[begin..at]);
        let right = operand::end(nodes, at + 1).map(|end| &nodes[at + 1..end]);
        if left.is_some_and(is_time) || left.is_some() && right.is_some_and(is_time) {
            return Err(SqlFailure::unsupported(
                "times have no arithmetic but with INTERVAL: use extract(epoch FROM a - b), or the columns that end with _ns",
                node.at(),
            ));
        }
    }
    Ok(())
}
