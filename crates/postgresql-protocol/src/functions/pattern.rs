//! Patterns: LIKE with the escape `\`, and regular expressions.

use super::scalar::{Define, argument_text, refused};
use regex::{Regex, RegexBuilder};
use rusqlite::{Result, functions::Context, types::Value};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

/// Longest pattern, bytes.
const MAX_PATTERN_BYTES: usize = 1_000;
/// Memory of a regular expression, bytes.
const MAX_REGEX_BYTES: usize = 1024 * 1024;
/// Most regular expressions of a statement that are remembered.
const MAX_CACHED_PATTERNS: usize = 16;

/// Defines the functions.
pub fn define(define: &Define<'_>) -> Result<()> {
    for (name, like, ignores_case) in [
        ("pg_regexp", false, false),
        ("pg_iregexp", false, true),
        ("pg_like", true, false),
        ("pg_ilike", true, true),
    ] {
        let patterns = Patterns::default();
        let counts: &[i32] = if like { &[2, 3] } else { &[2] };
        define.function(name, counts, move |context| matches(&patterns, context, like, ignores_case))?;
    }
    let patterns = Patterns::default();
    define.function("regexp_replace", &[3, 4], move |context| {
        let (Some(text), Some(pattern), Some(by)) =
            (argument_text(context, 0), argument_text(context, 1), argument_text(context, 2))
        else {
            return Ok(Value::Null);
        };
        let flags = if context.len() > 3 { argument_text(context, 3).unwrap_or_default() } else { "".into() };
        let pattern = patterns.get(&pattern, flags.contains('i'))?;
        let by = by.replace('$', "$$").replace("\\&", "${0}");
        let by = (1..10).fold(by, |by, group| by.replace(&format!("\\{group}"), &format!("${{{group}}}")));
        let count = usize::from(!flags.contains('g'));
        Ok(Value::Text(pattern.replacen(&text, count, by.as_str()).into_owned()))
    })
}

/// Compiled regular expressions of a statement.
#[derive(Clone, Default)]
struct Patterns(Arc<Mutex<HashMap<(String, bool), Regex>>>);

impl Patterns {
    fn get(&self, pattern: &str, ignores_case: bool) -> Result<Regex> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (pattern.to_owned(), ignores_case);
        if let Some(found) = known.get(&key) {
            return Ok(found.clone());
        }
        if pattern.len() > MAX_PATTERN_BYTES {
            return Err(refused(format!("a pattern has more than {MAX_PATTERN_BYTES} bytes")));
        }
        let compiled = RegexBuilder::new(pattern)
            .case_insensitive(ignores_case)
            .dot_matches_new_line(true)
            .size_limit(MAX_REGEX_BYTES)
            .dfa_size_limit(MAX_REGEX_BYTES)
            .build();
        let compiled = compiled.map_err(|error| {
            let said = error.to_string();
            let last = said.lines().last().unwrap_or_default();
            refused(format!("invalid regular expression: {}", last.trim_start_matches("error: ")))
        })?;
        if known.len() == MAX_CACHED_PATTERNS {
            known.clear();
        }
        known.insert(key, compiled.clone());
        Ok(compiled)
    }
}

fn matches(patterns: &Patterns, context: &Context<'_>, is_like: bool, ignores_case: bool) -> Result<Value> {
    let Some((text, pattern)) = argument_text(context, 0).zip(argument_text(context, 1)) else {
        return Ok(Value::Null);
    };
    let escape = if context.len() > 2 {
        argument_text(context, 2).and_then(|text| text.chars().next())
    } else {
        Some('\\')
    };
    let pattern = if is_like { of_like(&pattern, escape) } else { pattern.into_owned() };
    Ok(Value::Integer(patterns.get(&pattern, ignores_case)?.is_match(&text).into()))
}

/// The regular expression of a pattern of LIKE.
fn of_like(pattern: &str, escape: Option<char>) -> String {
    let mut out = String::from(r"\A");
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match letter {
            letter if Some(letter) == escape => {
                out.push_str(&regex::escape(letters.next().unwrap_or(letter).encode_utf8(&mut [0; 4])));
            }
            '%' => out.push_str(".*"),
            '_' => out.push('.'),
            other => out.push_str(&regex::escape(other.encode_utf8(&mut [0; 4]))),
        }
    }
    out.push_str(r"\z");
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;

    fn value(sql: &str) -> Option<String> {
        let connection = Connection::open_in_memory().unwrap();
        super::define(&Define(&connection)).unwrap();
        connection.query_row(&format!("SELECT CAST({sql} AS TEXT)"), [], |row| row.get(0)).ok()
    }

    #[test]
    fn patterns_match_as_in_postgresql() {
        for (sql, wanted) in [
            ("pg_like('pump_1', 'pump\\_%')", "1"),
            ("pg_like('pump1', 'pump\\_%')", "0"),
            ("pg_like('Pump', 'pump')", "0"),
            ("pg_like('pg_x', 'pg/_%', '/')", "1"),
            ("pg_ilike('Pump', 'pum_')", "1"),
            ("pg_like('a.b', 'a.b')", "1"),
            ("pg_regexp('oasis_x', '^(oasis_.*)$')", "1"),
            ("pg_iregexp('X', '^x')", "1"),
            ("regexp_replace('a1b2', '[0-9]', '#', 'g')", "a#b#"),
            ("regexp_replace('ab', '(a)(b)', '\\2\\1')", "ba"),
        ] {
            assert_eq!(value(sql).as_deref(), Some(wanted), "{sql}");
        }
        assert_eq!(value("pg_regexp('a', '(')"), None);
        assert_eq!(value(&format!("pg_like('a', '{}')", "x".repeat(2_000))), None);
    }
}
