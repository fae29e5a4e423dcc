//! Names of columns without AS, as PostgreSQL gives them.

use super::{operand, token::Kind, tree::Node};

/// Words that end a list of columns.
const ENDS: &[&str] = &[
    "from",
    "where",
    "group",
    "having",
    "window",
    "union",
    "intersect",
    "except",
    "order",
    "limit",
    "offset",
    "into",
];

/// Gives each column of each SELECT in these nodes its name.
pub fn name_columns(nodes: Vec<Node>) -> Vec<Node> {
    let mut out = Vec::with_capacity(nodes.len());
    let mut at = 0;
    while let Some(node) = nodes.get(at) {
        out.push(node.clone());
        at += 1;
        if !node.is_word("select") {
            continue;
        }
        while nodes.get(at).is_some_and(|node| node.is_word("distinct") || node.is_word("all")) {
            out.push(nodes[at].clone());
            at += 1;
        }
        let end = nodes[at..].iter().position(|node| ENDS.iter().any(|word| node.is_word(word)));
        let end = end.map_or(nodes.len(), |end| at + end);
        for (number, item) in operand::split(&nodes[at..end]).into_iter().enumerate() {
            if number > 0 {
                out.push(Node::operator(",", item.first().map_or(node.at(), Node::at)));
            }
            out.extend(item.to_vec());
            if let Some((name, last)) = missing_name(item).zip(item.last()) {
                out.push(Node::word("AS", last.at()));
                out.push(quoted(&name, last.at()));
            }
        }
        at = end;
    }
    out
}

/// A name in quotes.
pub fn quoted(name: &str, at: usize) -> Node {
    let name = format!("\"{}\"", name.replace('"', "\"\""));
    Node::Leaf(super::token::Token::new(Kind::Quoted, name, at))
}

/// The name that a column needs, because it has neither an alias nor is it a column of a table.
fn missing_name(item: &[Node]) -> Option<String> {
    let last = item.last()?;
    if last.is_operator("*") && item.len() != 1 || last.is_operator("*") && item.len() == 1 {
        return None;
    }
    let names_itself = match item {
        [.., before, name] if operand::is_name(name) && !name.is_word("end") => {
            // `x AS name`, `x name`, or `t.name`
            before.is_word("as")
                || before.is_operator(".")
                || operand::begin(&item[..item.len() - 1]).is_some()
        }
        [name] => operand::is_name(name) && !is_keyword_function(name) && !is_literal(name),
        _ => false,
    };
    if names_itself {
        return None;
    }
    Some(name_of(item).unwrap_or_else(|| "?column?".into()))
}

/// Words that are values.
fn is_literal(node: &Node) -> bool {
    ["null", "true", "false"].iter().any(|word| node.is_word(word))
}

/// Functions that are called without brackets.
pub fn is_keyword_function(node: &Node) -> bool {
    KEYWORD_FUNCTIONS.iter().any(|(word, _)| node.is_word(word))
}

/// Words that are calls, and the functions that they call.
pub const KEYWORD_FUNCTIONS: &[(&str, &str)] = &[
    ("current_user", "current_user"),
    ("session_user", "session_user"),
    ("current_role", "current_user"),
    ("user", "current_user"),
    ("current_catalog", "current_database"),
    ("current_schema", "current_schema"),
    ("current_timestamp", "now"),
    ("localtimestamp", "now"),
    ("current_date", "current_day"),
];

fn name_of(item: &[Node]) -> Option<String> {
    // A cast is named as its value, or else as its type.
    if let Some(cast) = item.iter().position(|node| node.is_operator("::")) {
        let named =
            if cast == 0 { None } else { name_of(&item[..cast]).or_else(|| column_of(&item[..cast])) };
        return named.or_else(|| super::cast::type_name(item, cast + 1).map(|to| to.name));
    }
    match item {
        [case, .., end] if case.is_word("case") && end.is_word("end") => Some("case".into()),
        [word] if is_keyword_function(word) => word.leaf().map(|token| token.name()),
        [array, group] if array.is_word("array") && group.leaf().is_none() => Some("array".into()),
        [.., name, group]
            if operand::begin(item) == Some(0) && group.round().is_some() && operand::is_name(name) =>
        {
            name.leaf().map(|token| token.name())
        }
        _ => None,
    }
}

fn column_of(item: &[Node]) -> Option<String> {
    let whole = operand::begin(item) == Some(0);
    item.last().filter(|last| whole && operand::is_name(last))?.leaf().map(|token| token.name())
}
