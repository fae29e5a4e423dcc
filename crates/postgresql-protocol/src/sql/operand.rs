//! Begin and end of operands: the parts of an expression that bind more tightly than any operator.

use super::{token::Kind, tree::Node};

/// Words that are no names of functions or columns.
const RESERVED: &[&str] = &[
    "all",
    "and",
    "any",
    "array",
    "as",
    "asc",
    "between",
    "by",
    "case",
    "collate",
    "cross",
    "desc",
    "distinct",
    "else",
    "except",
    "filter",
    "from",
    "full",
    "group",
    "having",
    "ilike",
    "in",
    "inner",
    "intersect",
    "into",
    "is",
    "join",
    "lateral",
    "like",
    "limit",
    "not",
    "natural",
    "offset",
    "on",
    "or",
    "order",
    "outer",
    "over",
    "regexp",
    "returning",
    "select",
    "similar",
    "some",
    "then",
    "union",
    "using",
    "values",
    "when",
    "where",
    "window",
    "with",
];

/// Whether a node is a name, and no keyword.
pub fn is_name(node: &Node) -> bool {
    node.leaf().is_some_and(|token| match token.kind {
        Kind::Quoted => true,
        Kind::Word => !RESERVED.contains(&token.text.to_ascii_lowercase().as_str()),
        _ => false,
    })
}

/// Returns the begin of the last operand.
pub fn begin(nodes: &[Node]) -> Option<usize> {
    let mut at = nodes.len().checked_sub(1)?;
    match &nodes[at] {
        Node::Group { .. } => {
            if at > 0 && is_name(&nodes[at - 1]) {
                at -= 1;
            }
        }
        node if node.is_word("end") => return begin_of_case(&nodes[..at]),
        Node::Leaf(token) => match token.kind {
            Kind::Text | Kind::Number | Kind::Parameter => return Some(at),
            Kind::Word | Kind::Quoted if is_name(&nodes[at]) => {}
            // `t.*` and the like are no operands.
            _ => return None,
        },
    }
    while at >= 2
        && nodes[at - 1].is_operator(".")
        && nodes[at - 2].leaf().is_some_and(|token| token.is_name())
    {
        at -= 2;
    }
    Some(at)
}

fn begin_of_case(nodes: &[Node]) -> Option<usize> {
    let mut depth = 1;
    for (at, node) in nodes.iter().enumerate().rev() {
        if node.is_word("end") {
            depth += 1;
        } else if node.is_word("case") {
            depth -= 1;
            if depth == 0 {
                return Some(at);
            }
        }
    }
    None
}

/// Returns the end of the operand that begins here.
pub fn end(nodes: &[Node], from: usize) -> Option<usize> {
    let mut at = from;
    while nodes.get(at).is_some_and(|node| node.is_operator("-") || node.is_operator("+")) {
        at += 1;
    }
    let first = nodes.get(at)?;
    if first.is_word("case") {
        return end_of_case(nodes, at + 1);
    }
    if let Node::Leaf(token) = first {
        match token.kind {
            Kind::Text | Kind::Number | Kind::Parameter => return Some(at + 1),
            Kind::Word | Kind::Quoted if is_name(first) => {}
            _ => return None,
        }
        while nodes.get(at + 1).is_some_and(|node| node.is_operator(".")) && at + 2 < nodes.len() {
            at += 2;
        }
        let is_call = nodes.get(at + 1).is_some_and(|node| node.round().is_some());
        return Some(if is_call { at + 2 } else { at + 1 });
    }
    Some(at + 1)
}

fn end_of_case(nodes: &[Node], from: usize) -> Option<usize> {
    let mut depth = 1;
    for (at, node) in nodes.iter().enumerate().skip(from) {
        if node.is_word("case") {
            depth += 1;
        } else if node.is_word("end") {
            depth -= 1;
            if depth == 0 {
                return Some(at + 1);
            }
        }
    }
    None
}

/// Splits at the commas.
pub fn split(nodes: &[Node]) -> Vec<&[Node]> {
    if nodes.is_empty() { Vec::new() } else { nodes.split(|node| node.is_operator(",")).collect() }
}
