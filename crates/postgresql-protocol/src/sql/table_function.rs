//! Functions in place of tables: `FROM generate_series(1, 3) AS i`.

use super::{operand, select_list::quoted, tree::Node};
use crate::failure::SqlFailure;

/// Table functions of SQLite, which stay as they are.
const OF_SQLITE: &[&str] = &["json_each", "json_tree"];

/// Replaces functions in FROM by tables.
pub fn table_functions(nodes: Vec<Node>) -> Result<Vec<Node>, SqlFailure> {
    let mut out: Vec<Node> = Vec::with_capacity(nodes.len());
    let mut is_from = false;
    // `extract(epoch FROM max(time))` has no tables.
    let has_tables = nodes.iter().any(|node| node.is_word("select"));
    let mut at = 0;
    while let Some(node) = nodes.get(at) {
        is_from = match () {
            () if node.is_word("from") => true,
            () if [
                "where",
                "group",
                "order",
                "having",
                "limit",
                "union",
                "select",
                "except",
                "intersect",
            ]
            .iter()
            .any(|word| node.is_word(word)) =>
            {
                false
            }
            () => is_from,
        };
        let is_place = has_tables
            && out.last().is_some_and(|last| {
                last.is_word("from") || last.is_word("join") || is_from && last.is_operator(",")
            });
        let arguments =
            nodes.get(at + 1).and_then(Node::round).filter(|_| is_place && operand::is_name(node));
        let name = node.leaf().map(|token| token.name()).unwrap_or_default();
        let Some(arguments) = arguments.filter(|_| !OF_SQLITE.contains(&name.as_str())) else {
            out.push(node.clone());
            at += 1;
            continue;
        };
        let place = node.at();
        let alias = Alias::read(&nodes, at + 2, &name);
        at = alias.next;
        out.push(Node::group(table(&name, arguments, &alias, place), place));
        out.push(Node::word("AS", place));
        out.push(quoted(&alias.name, place));
    }
    Ok(out)
}

/// The names after a function: `WITH ORDINALITY AS name(column, number)`.
struct Alias {
    name: String,
    columns: Vec<String>,
    next: usize,
}

impl Alias {
    fn read(nodes: &[Node], from: usize, function: &str) -> Self {
        let mut at = from;
        let is_word = |at: usize, word: &str| nodes.get(at).is_some_and(|node: &Node| node.is_word(word));
        if is_word(at, "with") && is_word(at + 1, "ordinality") {
            at += 2;
        }
        if is_word(at, "as") {
            at += 1;
        }
        let name_of = |node: &Node| node.leaf().map(|token| token.name());
        let joins = ["left", "right", "cross", "full", "natural"];
        let named = nodes
            .get(at)
            .filter(|node| operand::is_name(node) && !joins.iter().any(|word| node.is_word(word)));
        let Some(name) = named.and_then(name_of) else {
            return Self { name: function.to_owned(), columns: vec![function.to_owned()], next: at };
        };
        at += 1;
        let columns = nodes.get(at).and_then(Node::round).map(|columns| {
            operand::split(columns)
                .into_iter()
                .filter_map(|column| column.first().and_then(name_of))
                .collect()
        });
        let next = at + usize::from(columns.is_some());
        let columns = columns.unwrap_or_else(|| vec![name.clone()]);
        Self { name, columns, next }
    }

    fn column(&self, number: usize, otherwise: &str) -> String {
        self.columns.get(number).cloned().unwrap_or_else(|| otherwise.to_owned())
    }
}

fn table(name: &str, arguments: &[Node], alias: &Alias, at: usize) -> Vec<Node> {
    let word = |text: &str| Node::word(text, at);
    let first = quoted(&alias.column(0, name), at);
    match (name, &operand::split(arguments)[..]) {
        ("generate_series", [from, to, step @ ..]) => {
            let step = step.first().map_or_else(|| vec![word("1")], |step| step.to_vec());
            let series = [
                vec![word("SELECT")],
                from.to_vec(),
                vec![word("UNION ALL SELECT value +")],
                step.clone(),
                vec![word("FROM pg_series WHERE value +")],
                step,
                vec![word("<=")],
                to.to_vec(),
            ];
            let mut table =
                vec![word("WITH RECURSIVE pg_series(value) AS"), Node::group(series.concat(), at)];
            table.extend([word("SELECT value AS"), first, word("FROM pg_series WHERE value <=")]);
            table.extend(to.to_vec());
            table
        }
        ("unnest", _) => {
            let elements = Node::call("pg_elements", arguments.to_vec(), at);
            let number = quoted(&alias.column(1, "ordinality"), at);
            let mut table = vec![word("SELECT value AS"), first, word(", key + 1 AS"), number, word("FROM")];
            table.extend(Node::call("json_each", elements.into(), at));
            table
        }
        _ => {
            let mut table = vec![word("SELECT")];
            table.extend(Node::call(name, arguments.to_vec(), at));
            table.extend([word("AS"), first]);
            table
        }
    }
}
