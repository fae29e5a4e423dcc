//! Statements, and what they do.

use super::token::{Kind, Token, tokens};
use crate::failure::{SqlFailure, code};

/// Most statements in one message.
const MAX_STATEMENTS: usize = 100;

/// The action of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// Nothing: it is empty.
    Nothing,
    /// Reads rows.
    Select,
    /// Shows a setting.
    Show(String),
    /// Changes a setting; `None` to its default.
    Set(String, Option<String>),
    /// Begins a transaction.
    Begin,
    /// Ends a transaction; whether it is committed.
    End {
        /// Whether it is committed.
        is_commit: bool,
    },
    /// Marks a place in a transaction, or releases it.
    Savepoint(&'static str),
    /// Goes back to a place in a transaction.
    RollbackTo,
    /// Forgets everything that the session has.
    DiscardAll,
    /// Forgets a prepared statement; `None` for all.
    Deallocate(Option<String>),
    /// Does nothing here; the tag of its answer.
    Ignored(&'static str),
}

/// A statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// Its action.
    pub act: Act,
    /// Its tokens.
    pub tokens: Vec<Token>,
}

/// Statements that write, which are refused.
const WRITES: &[&str] = &[
    "insert",
    "update",
    "delete",
    "merge",
    "create",
    "drop",
    "alter",
    "truncate",
    "grant",
    "revoke",
    "comment",
    "vacuum",
    "analyze",
    "reindex",
    "cluster",
    "refresh",
    "lock",
    "call",
    "do",
    "import",
    "security",
    "reassign",
    "notify",
    "checkpoint",
    "load",
];
/// Statements that read, and are not there.
const UNSUPPORTED: &[&str] =
    &["copy", "declare", "fetch", "move", "prepare", "execute", "explain", "listen", "table"];

/// Splits a text into statements.
///
/// # Errors
/// If a statement is none, or is refused.
pub fn statements(sql: &str) -> Result<Vec<Statement>, SqlFailure> {
    let tokens = tokens(sql)?;
    let parts = tokens.split(|token| token.is_operator(";"));
    let mut statements = Vec::new();
    for part in parts.filter(|part| !part.is_empty()) {
        if statements.len() == MAX_STATEMENTS {
            let message = format!("more than {MAX_STATEMENTS} statements in one message");
            return Err(SqlFailure::new(code::LIMIT, message).at(part[0].at));
        }
        statements.push(Statement { act: act(part)?, tokens: part.to_vec() });
    }
    if statements.is_empty() {
        statements.push(Statement { act: Act::Nothing, tokens: Vec::new() });
    }
    Ok(statements)
}

fn act(part: &[Token]) -> Result<Act, SqlFailure> {
    let first = &part[0];
    let word = if first.kind == Kind::Word { first.text.to_ascii_lowercase() } else { String::new() };
    let second = part.get(1).filter(|token| token.is_name()).map(Token::name).unwrap_or_default();
    let name = |from: usize| part.get(from).map(Token::name).unwrap_or_default();
    Ok(match word.as_str() {
        "select" | "with" | "values" => Act::Select,
        _ if first.text == "(" => Act::Select,
        "show" => Act::Show(setting(&part[1..])),
        "set" => set(part)?,
        "reset" if second == "all" => Act::Ignored("RESET"),
        "reset" => Act::Set(setting(&part[1..]), None),
        "begin" | "start" => Act::Begin,
        "commit" | "end" => Act::End { is_commit: true },
        "rollback" if part.iter().any(|token| token.is_word("to")) => Act::RollbackTo,
        "rollback" | "abort" => Act::End { is_commit: false },
        "savepoint" => Act::Savepoint("SAVEPOINT"),
        "release" => Act::Savepoint("RELEASE"),
        "discard" if second == "all" => Act::DiscardAll,
        "discard" => Act::Ignored("DISCARD"),
        "deallocate" => {
            let named = name(if second == "prepare" { 2 } else { 1 });
            Act::Deallocate(Some(named).filter(|name| name != "all"))
        }
        "close" => Act::Ignored("CLOSE CURSOR"),
        "unlisten" => Act::Ignored("UNLISTEN"),
        "copy" if part.iter().any(|token| token.is_word("stdin")) => {
            return Err(read_only("COPY FROM", first.at));
        }
        word if WRITES.contains(&word) => return Err(read_only(&word.to_ascii_uppercase(), first.at)),
        word if UNSUPPORTED.contains(&word) => {
            let message = format!("{} is not supported: send a SELECT", word.to_ascii_uppercase());
            return Err(SqlFailure::unsupported(message, first.at));
        }
        _ => {
            let message =
                format!("syntax error at or near {:?}", first.text.chars().take(40).collect::<String>());
            return Err(SqlFailure::new(code::SYNTAX, message).at(first.at));
        }
    })
}

fn read_only(statement: &str, at: usize) -> SqlFailure {
    let message =
        format!("cannot execute {statement} in a read-only transaction: stored samples are only read");
    SqlFailure::new(code::READ_ONLY, message).at(at)
}

/// The name of a setting, which may have several words.
fn setting(tokens: &[Token]) -> String {
    let names: Vec<_> = tokens.iter().filter(|token| token.is_name()).map(Token::name).collect();
    match names.join(" ").as_str() {
        "time zone" => "timezone".into(),
        "transaction isolation level" => "transaction_isolation".into(),
        "session authorization" => "session_authorization".into(),
        name => name.replace(' ', "."),
    }
}

/// `SET [SESSION | LOCAL] name {= | TO} value`
fn set(part: &[Token]) -> Result<Act, SqlFailure> {
    let mut left = &part[1..];
    let is_next = |left: &[Token], word: &str| left.first().is_some_and(|token| token.is_word(word));
    if is_next(left, "session") && !left.get(1).is_some_and(|token| token.is_word("authorization"))
        || is_next(left, "local")
    {
        left = &left[1..];
    }
    if is_next(left, "transaction") || is_next(left, "characteristics") || is_next(left, "constraints") {
        let writes = left.windows(2).any(|pair| pair[0].is_word("read") && pair[1].is_word("write"));
        return if writes {
            Err(read_only("SET TRANSACTION READ WRITE", part[0].at))
        } else {
            Ok(Act::Ignored("SET"))
        };
    }
    if is_next(left, "role") || is_next(left, "names") {
        return Ok(Act::Ignored("SET"));
    }
    let is_zone = is_next(left, "time") && left.get(1).is_some_and(|token| token.is_word("zone"));
    let split = if is_zone {
        2
    } else {
        left.iter().position(|token| token.is_operator("=") || token.is_word("to")).unwrap_or(left.len())
    };
    let name = setting(&left[..split]);
    let values = &left[(if is_zone { split } else { split + 1 }).min(left.len())..];
    if name.is_empty() || values.is_empty() {
        return Err(SqlFailure::new(code::SYNTAX, "SET needs a setting and a value").at(part[0].at));
    }
    let content = |token: &Token| match token.kind {
        Kind::Text => token.content(),
        Kind::Quoted => token.name(),
        _ => token.text.clone(),
    };
    let value = values.iter().map(content).collect::<Vec<_>>().join("").replace(',', ", ");
    Ok(Act::Set(name, Some(value).filter(|value| !value.eq_ignore_ascii_case("default"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn act_of(sql: &str) -> Act {
        statements(sql).unwrap().remove(0).act
    }

    #[test]
    fn each_statement_has_its_act() {
        assert_eq!(
            act_of("set extra_float_digits = 3"),
            Act::Set("extra_float_digits".into(), Some("3".into()))
        );
        assert_eq!(
            act_of("SET SESSION search_path TO a, \"b\""),
            Act::Set("search_path".into(), Some("a, b".into()))
        );
        assert_eq!(act_of("SET TIME ZONE 'UTC'"), Act::Set("timezone".into(), Some("UTC".into())));
        assert_eq!(act_of("SET x.y TO DEFAULT"), Act::Set("x.y".into(), None));
        assert_eq!(act_of("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY"), Act::Ignored("SET"));
        assert_eq!(act_of("show transaction isolation level"), Act::Show("transaction_isolation".into()));
        assert_eq!(act_of("BEGIN READ ONLY"), Act::Begin);
        assert_eq!(act_of("ROLLBACK TO a"), Act::RollbackTo);
        assert_eq!(act_of("DEALLOCATE ALL"), Act::Deallocate(None));
        assert_eq!(act_of("-- nothing\n;"), Act::Nothing);
        assert_eq!(statements("SELECT ';'; SELECT 2;").unwrap().len(), 2);
    }

    #[test]
    fn writes_are_refused() {
        for sql in
            ["INSERT INTO x VALUES (1)", "drop table x", "COPY x FROM STDIN", "SET TRANSACTION READ WRITE"]
        {
            assert_eq!(statements(sql).unwrap_err().code, code::READ_ONLY, "{sql}");
        }
        let refused = statements("SELECT 1; EXPLAIN SELECT 1").unwrap_err();
        assert_eq!((refused.code, refused.at), (code::UNSUPPORTED, Some(10)));
        assert_eq!(statements("nonsense").unwrap_err().code, code::SYNTAX);
        assert_eq!(statements(&";SELECT 1".repeat(101)).unwrap_err().code, code::LIMIT);
    }
}
