//! Comparisons with patterns and arrays: `~`, `ILIKE`, `= ANY`.

use super::{operand, tree::Node};
use crate::failure::SqlFailure;

/// Replaces operators that compare with patterns.
pub fn patterns(nodes: Vec<Node>) -> Result<Vec<Node>, SqlFailure> {
    let mut out: Vec<Node> = Vec::with_capacity(nodes.len());
    let mut at = 0;
    while let Some(node) = nodes.get(at) {
        let operator = node.leaf().map(|token| token.text.to_ascii_lowercase()).unwrap_or_default();
        // A name in quotes is no operator, and without a left operand `~` is that of bits.
        let function = match operator.as_str() {
            "~" => ("pg_regexp", false),
            "~*" => ("pg_iregexp", false),
            "!~" => ("pg_regexp", true),
            "!~*" => ("pg_iregexp", true),
            "~~" | "like" => ("pg_like", false),
            "!~~" => ("pg_like", true),
            "~~*" | "ilike" => ("pg_ilike", false),
            "!~~*" => ("pg_ilike", true),
            _ => ("", false),
        };
        let is_negated = out.last().is_some_and(|last| last.is_word("not"));
        let before = out.len() - usize::from(is_negated);
        let both = operand::begin(&out[..before]).zip(operand::end(&nodes, at + 1));
        let Some((begin, end)) = both.filter(|_| !function.0.is_empty()) else {
            out.push(node.clone());
            at += 1;
            continue;
        };
        if nodes[at + 1..end].first().is_some_and(|first| first.is_word("any") || first.is_word("all")) {
            return Err(SqlFailure::unsupported("patterns are not compared with ANY or ALL", node.at()));
        }
        // A concatenation belongs to the pattern.
        let end = concatenated(&nodes, end);
        let begin = begin_concatenated(&out[..before], begin);
        out.truncate(before);
        let place = node.at();
        let mut arguments = out.split_off(begin);
        arguments.push(Node::operator(",", place));
        arguments.extend(nodes[at + 1..end].to_vec());
        at = end;
        if nodes.get(at).is_some_and(|node| node.is_word("escape")) {
            let end = operand::end(&nodes, at + 1).unwrap_or(nodes.len());
            arguments.push(Node::operator(",", place));
            arguments.extend(nodes[at + 1..end].to_vec());
            at = end;
        }
        if function.1 || is_negated {
            out.push(Node::word("NOT", place));
        }
        out.extend(Node::call(function.0, arguments, place));
    }
    Ok(out)
}

fn concatenated(nodes: &[Node], mut end: usize) -> usize {
    while nodes.get(end).is_some_and(|node| node.is_operator("||")) {
        match operand::end(nodes, end + 1) {
            Some(next) => end = next,
            None => break,
        }
    }
    end
}

fn begin_concatenated(nodes: &[Node], mut begin: usize) -> usize {
    while begin > 0 && nodes[begin - 1].is_operator("||") {
        match operand::begin(&nodes[..begin - 1]) {
            Some(next) => begin = next,
            None => break,
        }
    }
    begin
}

/// Replaces `x = ANY (array)` and `x <> ALL (array)`.
pub fn quantified(nodes: Vec<Node>) -> Result<Vec<Node>, SqlFailure> {
    let mut out: Vec<Node> = Vec::with_capacity(nodes.len());
    let mut at = 0;
    while let Some(node) = nodes.get(at) {
        let is_any = node.is_word("any") || node.is_word("some");
        let inside = nodes.get(at + 1).and_then(Node::round).filter(|_| is_any || node.is_word("all"));
        let operator = out.last().and_then(Node::leaf).map(|token| token.text.clone()).unwrap_or_default();
        let Some(inside) =
            inside.filter(|_| ["=", "<>", "!=", "<", ">", "<=", ">="].contains(&operator.as_str()))
        else {
            out.push(node.clone());
            at += 1;
            continue;
        };
        let place = node.at();
        out.pop();
        match (operator.as_str(), is_any) {
            ("=", true) => {}
            ("<>" | "!=", false) => out.push(Node::word("NOT", place)),
            _ => {
                return Err(SqlFailure::unsupported("only = ANY and <> ALL are supported", place));
            }
        }
        out.push(Node::word("IN", place));
        out.push(Node::group(list_of(inside, place), place));
        at += 2;
    }
    Ok(out)
}

/// The elements of an array as a SELECT.
fn list_of(array: &[Node], at: usize) -> Vec<Node> {
    if array.first().is_some_and(|first| first.is_word("select")) {
        return array.to_vec();
    }
    let elements = Node::call("pg_elements", array.to_vec(), at);
    let mut list = vec![Node::word("SELECT", at), Node::word("value", at), Node::word("FROM", at)];
    list.extend(Node::call("json_each", elements.into(), at));
    list
}
