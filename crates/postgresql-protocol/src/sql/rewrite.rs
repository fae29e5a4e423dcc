//! PostgreSQL's SQL as SQLite's: what SQLite has as well stays as it is.

use super::{
    cast, operand, pattern,
    select_list::{KEYWORD_FUNCTIONS, name_columns, quoted},
    table_function, times,
    token::{Kind, Token},
    tree::{Node, Rendered, nest},
};
use crate::failure::SqlFailure;

/// Names of functions, and those of SQLite or of ours that do the same.
const RENAMED: &[(&str, &str)] = &[
    ("char_length", "length"),
    ("character_length", "length"),
    ("bool_and", "min"),
    ("bool_or", "max"),
    ("every", "min"),
    ("ceiling", "ceil"),
    ("pow", "power"),
    ("substring", "substr"),
    ("greatest", "max"),
    ("least", "min"),
    ("json_build_object", "json_object"),
    ("jsonb_build_object", "json_object"),
    ("json_build_array", "json_array"),
    ("json_agg", "json_group_array"),
    ("jsonb_agg", "json_group_array"),
];
/// Types whose literals are their name and a text.
const LITERALS: &[&str] = &["timestamp", "timestamptz", "date"];
/// Schemas that SQLite does not know: all tables of samples are in one.
const SCHEMAS: &[&str] = &["public"];

/// Translates one statement, of which these are the tokens.
///
/// # Errors
/// If it has constructs that are not supported.
pub fn translate(tokens: Vec<Token>) -> Result<Rendered, SqlFailure> {
    let nodes = rewrite(nest(tokens)?)?;
    times::check_arithmetic(&nodes)?;
    Ok(Rendered::of(&nodes))
}

/// Rewrites what brackets enclose, and then the whole: each step finds what the earlier ones have left.
fn rewrite(nodes: Vec<Node>) -> Result<Vec<Node>, SqlFailure> {
    let inner = |node| -> Result<Node, SqlFailure> {
        match node {
            Node::Group { is_square, nodes, at } => Ok(Node::Group { is_square, nodes: rewrite(nodes)?, at }),
            leaf => Ok(leaf),
        }
    };
    let nodes = nodes.into_iter().map(inner).collect::<Result<Vec<_>, _>>()?;
    let nodes = name_columns(nodes);
    let nodes = calls(words(nodes)?)?;
    let nodes = times::intervals(nodes)?;
    let nodes = cast::postfix(nodes)?;
    let nodes = pattern::quantified(nodes)?;
    let nodes = pattern::patterns(nodes)?;
    table_function::table_functions(nodes)
}

/// Replaces or removes single words.
fn words(nodes: Vec<Node>) -> Result<Vec<Node>, SqlFailure> {
    let mut out: Vec<Node> = Vec::with_capacity(nodes.len());
    let mut at = 0;
    while let Some(node) = nodes.get(at) {
        let next = |further: usize| nodes.get(at + further);
        let is_next = |further: usize, word: &str| next(further).is_some_and(|node| node.is_word(word));
        let is_dot = |further: usize| next(further).is_some_and(|node| node.is_operator("."));
        let follows_dot = out.last().is_some_and(|last: &Node| last.is_operator("."));
        let Some(token) = node.leaf() else {
            out.push(node.clone());
            at += 1;
            continue;
        };
        let name = if token.is_name() { token.name() } else { String::new() };
        let is_word = |word: &str| token.is_word(word);
        let place = token.at;
        let is_schema = is_dot(1) && !follows_dot;
        let is_call = next(3).is_some_and(|node| node.round().is_some());
        at += match () {
            () if token.kind == Kind::Parameter => {
                out.push(Node::Leaf(Token::new(Kind::Parameter, token.text.replace('$', "?"), place)));
                1
            }
            () if is_schema && SCHEMAS.contains(&name.as_str()) => 2,
            () if is_schema && is_call && (name == "pg_catalog" || name == "information_schema") => 2,
            // No table has the number of a table in each row.
            () if follows_dot && name == "tableoid" && out.len() >= 2 => {
                out.truncate(out.len() - 2);
                out.push(Node::word("NULL", place));
                1
            }
            () if is_word("collate") => collation(&nodes[at..], &mut out),
            () if is_word("operator") && next(1).is_some_and(|node| node.round().is_some()) => {
                let inside = next(1).and_then(Node::round).unwrap_or_default();
                out.extend(inside.last().cloned());
                2
            }
            () if is_word("lateral")
                || is_word("only") && out.last().is_some_and(|last| last.is_word("from")) =>
            {
                1
            }
            () if is_word("limit") && (is_next(1, "all") || is_next(1, "null")) => 2,
            () if is_word("distinct") && is_next(1, "on") => {
                return Err(SqlFailure::unsupported("DISTINCT ON is not supported: use GROUP BY", place));
            }
            () if is_word("at") && is_next(1, "time") && is_next(2, "zone") => {
                at_time_zone(&nodes[at..], place)?
            }
            () if LITERALS.iter().any(|word| is_word(word)) => literal(&nodes[at..], &mut out),
            () => {
                let is_alias = out.last().is_some_and(|last| last.is_word("as"));
                let is_name = is_alias && token.kind == Kind::Word;
                if is_name && !is_word("materialized") && !is_word("not") {
                    // A word that only SQLite reserves, such as `nothing`, is a name here.
                    out.push(quoted(&name, place));
                    at += 1;
                    continue;
                }
                let is_alone =
                    !follows_dot && !is_dot(1) && next(1).is_none_or(|node| node.round().is_none());
                let function = KEYWORD_FUNCTIONS.iter().find(|(word, _)| is_word(word));
                match function.filter(|_| is_alone && !is_alias) {
                    Some((_, function)) => out.extend(Node::call(function, Vec::new(), place)),
                    None => out.push(node.clone()),
                }
                1
            }
        };
    }
    Ok(out)
}

/// `COLLATE` with a collation of PostgreSQL is removed: texts compare byte by byte. Returns the number of nodes that are done.
fn collation(nodes: &[Node], out: &mut Vec<Node>) -> usize {
    let is_qualified = nodes.get(2).is_some_and(|node| node.is_operator("."));
    let of_sqlite = ["nocase", "binary", "rtrim", "times"];
    let name = nodes.get(1).and_then(Node::leaf).map(|token| token.name()).unwrap_or_default();
    if !is_qualified && of_sqlite.contains(&name.as_str()) {
        out.extend(nodes.iter().take(2).cloned());
        return 2;
    }
    if is_qualified { 4 } else { 2 }
}

/// `AT TIME ZONE 'UTC'` is removed: times are in UTC.
fn at_time_zone(nodes: &[Node], at: usize) -> Result<usize, SqlFailure> {
    let zone = nodes.get(3).and_then(Node::leaf).filter(|token| token.kind == Kind::Text);
    let zone = zone.map(|token| token.content().to_ascii_lowercase()).unwrap_or_default();
    match ["utc", "gmt", "z", "etc/utc", "+00", "+00:00"].contains(&zone.as_str()) {
        true => Ok(4),
        false => Err(SqlFailure::unsupported("times are in UTC: AT TIME ZONE has no other zone", at)),
    }
}

/// `timestamptz '2026-05-04'`; a column of this name stays. Returns the number of nodes that are done.
fn literal(nodes: &[Node], out: &mut Vec<Node>) -> usize {
    let to = cast::type_name(nodes, 0);
    let text = |next: usize| {
        nodes.get(next).filter(|node| node.leaf().is_some_and(|token| token.kind == Kind::Text))
    };
    if let Some((to, text)) = to.and_then(|to| text(to.next).map(|text| (to, text))) {
        let function = if to.name == "date" { "pg_date" } else { "pg_time" };
        out.extend(Node::call(function, vec![text.clone()], text.at()));
        return to.next + 1;
    }
    out.push(nodes[0].clone());
    1
}

/// Replaces calls with a syntax or a name of their own.
fn calls(nodes: Vec<Node>) -> Result<Vec<Node>, SqlFailure> {
    let mut out: Vec<Node> = Vec::with_capacity(nodes.len());
    let mut at = 0;
    while let Some(node) = nodes.get(at) {
        let follows_dot = out.last().is_some_and(|last| last.is_operator("."));
        let name = node.leaf().filter(|token| token.is_name() && !follows_dot).map(|token| token.name());
        let group = nodes.get(at + 1).filter(|group| group.leaf().is_none());
        let replaced = match name.as_deref().zip(group) {
            Some(("array", group)) if node.is_word("array") => Some(array(group, node.at())),
            Some((name, group)) => match group.round() {
                Some(inside) => call(name, inside, node.at())?,
                None => None,
            },
            None => None,
        };
        match replaced {
            Some(replaced) => {
                out.extend(replaced);
                at += 2;
            }
            None => {
                out.push(node.clone());
                at += 1;
            }
        }
    }
    Ok(out)
}

fn call(name: &str, inside: &[Node], at: usize) -> Result<Option<Vec<Node>>, SqlFailure> {
    let has = |word: &str| inside.iter().position(|node| node.is_word(word));
    Ok(match name {
        "cast" => cast::call(inside, at)?,
        "extract" => times::extract(inside, at),
        "position" => has("in").map(|split| {
            let arguments = [&inside[split + 1..], &[Node::operator(",", at)], &inside[..split]].concat();
            Node::call("instr", arguments, at).into()
        }),
        "substring" if has("from").is_some() => {
            let comma = |node: &Node| match node.is_word("from") || node.is_word("for") {
                true => Node::operator(",", node.at()),
                false => node.clone(),
            };
            Some(Node::call("substr", inside.iter().map(comma).collect(), at).into())
        }
        "array_agg" => {
            let elements = Node::call("json_group_array", inside.to_vec(), at);
            Some(Node::call("pg_array", elements.into(), at).into())
        }
        name => {
            let other = RENAMED.iter().find(|(renamed, _)| *renamed == name);
            // One argument makes min and max aggregates.
            let has_one = operand::split(inside).len() == 1 && matches!(name, "greatest" | "least");
            match other.filter(|_| !has_one) {
                Some((_, function)) => Some(Node::call(function, inside.to_vec(), at).into()),
                None if has_one => Some(vec![Node::group(inside.to_vec(), at)]),
                None => None,
            }
        }
    })
}

/// `ARRAY[…]` and `ARRAY(SELECT …)`
fn array(group: &Node, at: usize) -> Vec<Node> {
    let (inside, is_list) = match group {
        Node::Group { is_square, nodes, .. } => (nodes.clone(), *is_square),
        Node::Leaf(_) => (Vec::new(), true),
    };
    let json = match is_list {
        true => Node::call("json_array", inside, at).to_vec(),
        false => {
            let mut rows = vec![Node::word("SELECT NULL AS element WHERE false UNION ALL SELECT * FROM", at)];
            rows.push(Node::group(inside, at));
            let select = Node::word("SELECT json_group_array(element) FROM", at);
            vec![Node::group(vec![select, Node::group(rows, at)], at)]
        }
    };
    Node::call("pg_array", json, at).into()
}

#[cfg(test)]
mod tests {
    use super::{super::token::tokens, *};
    use proptest::prelude::*;

    fn translated(sql: &str) -> String {
        let text = translate(tokens(sql).unwrap()).map(|rendered| rendered.sql);
        text.unwrap_or_else(|failure| format!("{failure} at {:?}", failure.at)).trim_end().to_owned()
    }

    #[test]
    fn casts_become_functions() {
        for (sql, wanted) in [
            ("a.b::int", "pg_int (a . b )"),
            ("f(x)::text::int8", "pg_int (pg_text (f (x ) ) )"),
            ("(a + 1)::double precision", "pg_real ((a + 1 ) )"),
            ("CAST(x AS varchar(10))", "pg_text (x )"),
            ("'a'::pg_catalog.regclass::oid", "pg_int (pg_regclass ('a' ) )"),
            ("'{a}'::text[]", "'{a}'"),
            ("CASE WHEN a THEN b END::int", "pg_int (CASE WHEN a THEN b END )"),
        ] {
            assert_eq!(translated(sql), wanted, "{sql}");
        }
        assert!(translated("x::box").contains("the type box is not supported"));
    }

    #[test]
    fn times_have_intervals_and_extract() {
        for (sql, wanted) in [
            ("now() - interval '1 hour'", "pg_add_interval (now ( ) , '-' , '1 hour' )"),
            ("time + '5 min'::interval > x", "pg_add_interval (time , '+' , '5 min' ) > x"),
            ("extract(epoch from t.time)", "date_part ('epoch' , t . time )"),
            ("date_bin(interval '5 min', time)", "date_bin ('5 min' , time )"),
            ("timestamptz '2026-05-04'", "pg_time ('2026-05-04' )"),
            ("time AT TIME ZONE 'UTC'", "time"),
        ] {
            assert_eq!(translated(sql).replace("( )", "()"), wanted.replace("( )", "()"), "{sql}");
        }
        let seconds = translated("extract(epoch from max(time) - min(time))");
        assert_eq!(seconds, "(date_part ('epoch' , max (time ) ) - date_part ('epoch' , min (time ) ) )");
        for sql in ["max(time) - min(time)", "time * 2", "5 - now()", "a.time + 1"] {
            assert!(translated(sql).contains("times have no arithmetic"), "{sql}");
        }
    }

    #[test]
    fn patterns_and_arrays_become_functions() {
        for (sql, wanted) in [
            ("a.x ~ '^b'", "pg_regexp (a . x , '^b' )"),
            (
                "x OPERATOR(pg_catalog.!~) 'b' COLLATE pg_catalog.default AND y",
                "NOT pg_regexp (x , 'b' ) AND y",
            ),
            ("x NOT ILIKE 'a%' OR y", "NOT pg_ilike (x , 'a%' ) OR y"),
            ("x LIKE 'a' || b", "pg_like (x , 'a' || b )"),
            ("x = ANY('{a,b}')", "x IN (SELECT value FROM json_each (pg_elements ('{a,b}' ) ) )"),
            (
                "x <> ALL(ARRAY[1,2])",
                "x NOT IN (SELECT value FROM json_each (pg_elements (pg_array (json_array (1 , 2 ) ) ) ) )",
            ),
            ("x = ANY (SELECT 1 AS a)", "x IN (SELECT 1 AS \"a\" )"),
            ("~5", "~ 5"),
            ("s[i]", "pg_subscript (s , i )"),
        ] {
            assert_eq!(translated(sql), wanted, "{sql}");
        }
    }

    #[test]
    fn columns_get_the_names_that_postgresql_gives_them() {
        for (sql, wanted) in [
            (
                "SELECT count(*), 1, a, t.b, c AS d FROM t",
                "SELECT count (* ) AS \"count\" , 1 AS \"?column?\" , a , t . b , c AS \"d\" FROM t",
            ),
            ("SELECT a::int, max(b)::text", "SELECT pg_int (a ) AS \"a\" , pg_text (max (b ) ) AS \"max\""),
            ("SELECT *, t.*", "SELECT * , t . *"),
            ("SELECT a + b c", "SELECT a + b c"),
            ("SELECT CASE WHEN a THEN b END", "SELECT CASE WHEN a THEN b END AS \"case\""),
            ("SELECT current_user", "SELECT current_user () AS \"current_user\""),
            ("SELECT 'a'::regclass", "SELECT pg_regclass ('a' ) AS \"regclass\""),
        ] {
            assert_eq!(translated(sql), wanted, "{sql}");
        }
    }

    #[test]
    fn schemas_and_words_without_meaning_are_removed() {
        for (sql, wanted) in [
            ("pg_catalog.format_type(a, $1)", "format_type (a , ?1 )"),
            ("\"public\".\"x\".y", "\"x\" . y"),
            ("FROM pg_catalog.pg_class c", "FROM pg_catalog . pg_class c"),
            ("x LIMIT ALL", "x"),
            (
                "SELECT a FROM generate_series(1, 2) AS i",
                "SELECT a FROM (WITH RECURSIVE pg_series(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM pg_series WHERE value + 1 <= 2 ) SELECT value AS \"i\" FROM pg_series WHERE value <= 2 ) AS \"i\"",
            ),
            ("SELECT a FROM t, f(x) s", "SELECT a FROM t , (SELECT f (x ) AS \"s\" ) AS \"s\""),
        ] {
            assert_eq!(translated(sql), wanted, "{sql}");
        }
    }

    proptest! {
        #[test]
        fn no_words_make_it_panic(words in proptest::collection::vec(prop_oneof![
            Just("select"), Just("("), Just(")"), Just("["), Just("]"), Just("::"), Just("int"), Just("'a'"), Just("interval"), Just("."),
            Just("a"), Just("any"), Just("="), Just("array"), Just("case"), Just("end"), Just("~"), Just("like"), Just("not"), Just("-"),
            Just("extract"), Just("from"), Just(","), Just("as"), Just("cast"), Just("time"), Just("collate"), Just("operator"), Just("||"),
            Just("unnest"), Just("at"), Just("zone"), Just("timestamp"), Just("with"), Just("*"),
        ], 0..30)) {
            if let Ok(tokens) = tokens(&words.join(" ")) {
                let _ = translate(tokens);
            }
        }
    }
}
