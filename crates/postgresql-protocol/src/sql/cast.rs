//! Casts: `x::type` and `CAST(x AS type)` as functions, which [`crate::functions`] defines.

use super::{operand, tree::Node};
use crate::failure::SqlFailure;

/// The name of a type, whether it is one of arrays, and the index of the node after it.
pub struct TypeName {
    /// In lower case, without schema and bounds.
    pub name: String,
    is_array: bool,
    /// Index of the node after it.
    pub next: usize,
}

/// Words that continue the name of a type.
const CONTINUED: &[&str] = &["precision", "varying", "with", "without", "time", "zone"];

/// Reads the name of a type.
pub fn type_name(nodes: &[Node], from: usize) -> Option<TypeName> {
    let mut at = from;
    if nodes.get(at + 1).is_some_and(|node| node.is_operator(".")) {
        at += 2;
    }
    let name = nodes.get(at)?.leaf().filter(|token| token.is_name())?.name();
    at += 1;
    let skips_bounds = |at: usize| nodes.get(at).is_some_and(|node| node.round().is_some());
    if skips_bounds(at) {
        at += 1;
    }
    while nodes.get(at).is_some_and(|node| CONTINUED.iter().any(|word| node.is_word(word))) {
        at += 1;
        if skips_bounds(at) {
            at += 1;
        }
    }
    let mut is_array = name.starts_with('_');
    while nodes.get(at).is_some_and(|node| node.square().is_some()) {
        is_array = true;
        at += 1;
    }
    Some(TypeName { name, is_array, next: at })
}

/// The function that casts to a type; `None` if values stay as they are.
fn function(name: &str, is_array: bool, at: usize) -> Result<Option<&'static str>, SqlFailure> {
    if is_array {
        return Ok(None);
    }
    Ok(Some(match name {
        "int" | "int2" | "int4" | "int8" | "integer" | "smallint" | "bigint" | "oid" | "xid" | "cid" => {
            "pg_int"
        }
        "float4" | "float8" | "real" | "double" | "float" => "pg_real",
        "numeric" | "decimal" => "pg_numeric",
        "text" | "varchar" | "character" | "char" | "bpchar" | "name" | "citext" | "uuid" | "cstring" => {
            "pg_text"
        }
        "bool" | "boolean" => "pg_bool",
        "timestamp" | "timestamptz" => "pg_time",
        "date" => "pg_date",
        "bytea" => "pg_bytea",
        "regclass" => "pg_regclass",
        "regtype" => "pg_regtype",
        "regnamespace" => "pg_regnamespace",
        "regrole" => "pg_regrole",
        "regproc" | "regprocedure" | "regoper" | "regoperator" | "regconfig" | "regcollation" => {
            "pg_regother"
        }
        "json" | "jsonb" | "xml" | "unknown" | "interval" | "int2vector" | "oidvector" | "aclitem"
        | "inet" | "record" | "anyarray" | "pg_node_tree" => return Ok(None),
        name => return Err(SqlFailure::unsupported(format!("the type {name} is not supported"), at)),
    }))
}

/// Casts an operand.
fn cast(operand: Vec<Node>, to: &TypeName, at: usize) -> Result<Vec<Node>, SqlFailure> {
    Ok(match function(&to.name, to.is_array, at)? {
        Some(function) => Node::call(function, operand, at).into(),
        None => operand,
    })
}

/// Replaces `CAST (x AS type)`.
pub fn call(inside: &[Node], at: usize) -> Result<Option<Vec<Node>>, SqlFailure> {
    let Some(split) = inside.iter().rposition(|node| node.is_word("as")) else { return Ok(None) };
    let Some(to) = type_name(inside, split + 1) else { return Ok(None) };
    let operand = inside[..split].to_vec();
    match function(&to.name, to.is_array, at)? {
        Some(function) => Ok(Some(Node::call(function, operand, at).into())),
        None => Ok(Some(vec![Node::group(operand, at)])),
    }
}

/// Replaces what follows an operand: `x::type`, `x[1]`, `(x).field`.
pub fn postfix(nodes: Vec<Node>) -> Result<Vec<Node>, SqlFailure> {
    let mut out: Vec<Node> = Vec::with_capacity(nodes.len());
    let mut at = 0;
    while let Some(node) = nodes.get(at) {
        let is_field = node.is_operator(".")
            && out.last().is_some_and(|last| last.round().is_some())
            && nodes.get(at + 1).is_some_and(operand::is_name);
        if node.is_operator("::") {
            let place = node.at();
            let to = type_name(&nodes, at + 1);
            let to = to.ok_or_else(|| SqlFailure::unsupported("a type must follow ::", place))?;
            let begin = operand::begin(&out);
            let begin = begin.ok_or_else(|| SqlFailure::unsupported("a value must precede ::", place))?;
            let operand = out.split_off(begin);
            out.extend(cast(operand, &to, place)?);
            at = to.next;
        } else if let Some((begin, index)) = operand::begin(&out).zip(node.square()) {
            let mut arguments = out.split_off(begin);
            arguments.push(Node::operator(",", node.at()));
            arguments.extend(index.to_vec());
            out.extend(Node::call("pg_subscript", arguments, node.at()));
            at += 1;
        } else if let Some((begin, name)) = operand::begin(&out).zip(nodes.get(at + 1)).filter(|_| is_field) {
            let field = name.leaf().map(|token| token.name()).unwrap_or_default();
            let mut arguments = out.split_off(begin);
            arguments.push(Node::operator(",", node.at()));
            arguments.push(Node::text(&field, node.at()));
            out.extend(Node::call("pg_field", arguments, node.at()));
            at += 2;
        } else {
            out.push(node.clone());
            at += 1;
        }
    }
    Ok(out)
}
