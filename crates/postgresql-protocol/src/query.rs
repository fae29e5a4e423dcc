//! One query: translated, run on a thread of its own, and its answer.

use crate::{
    answer::{Answer, AnswerBudget},
    catalogue::{self, Catalogue, Session},
    failure::{SqlFailure, code},
    functions,
    sql::{Context, Kind, Rendered, Token, context, parameter_contexts, translate},
    value_type::{ValueType, parameter},
};
use oasis_api::Queries;
use oasis_dac::now;
use oasis_http::{
    Problem,
    permissions::{Caller, NotRecorded, Outcome},
};
use oasis_query::{GuardedSql, OwnedSqlValue as Value, SqlError};
use oasis_thread_priority::{BACKGROUND, lower_priority};
use std::{
    sync::{Arc, atomic::AtomicBool},
    thread,
    time::Duration,
};
use tokio::sync::oneshot;

impl Outcome for SqlFailure {}

impl From<NotRecorded> for SqlFailure {
    fn from(error: NotRecorded) -> Self {
        Self::new(code::NOT_AVAILABLE, error.to_string())
    }
}

impl From<Problem> for SqlFailure {
    fn from(problem: Problem) -> Self {
        let code = match problem.code() {
            "forbidden" | "sign_in_required" => code::FORBIDDEN,
            "no_archive" => code::NOT_AVAILABLE,
            _ => code::FILES,
        };
        Self::new(code, problem.to_string())
    }
}

/// A query and its author.
pub struct QueryTask {
    /// Queries of the DAC.
    pub queries: Queries,
    /// The author.
    pub caller: Caller,
    /// The author's session.
    pub session: Session,
    /// Tokens of the statement.
    pub tokens: Vec<Token>,
    /// Values of the parameters, each with the number of its type; 0 for an unknown one.
    pub values: Vec<(u32, Value)>,
    /// Longest time.
    pub time: Duration,
    /// Memory for the answer.
    pub budget: AnswerBudget,
    /// Becomes true when the query is to end early.
    pub has_left: Arc<AtomicBool>,
}

/// The answer of a query, with the types of its columns as far as their names tell.
pub struct QueryOutcome {
    /// The rows.
    pub answer: Answer,
    /// Types of the columns.
    pub types: Vec<ValueType>,
    /// Types of the parameters, as far as they are known.
    pub parameters: Vec<u32>,
}

impl QueryTask {
    /// Runs the query on a thread of low priority.
    ///
    /// # Errors
    /// If it is invalid, is ended, or the archive cannot be read.
    pub async fn run(self) -> Result<QueryOutcome, SqlFailure> {
        let (send, receive) = oneshot::channel();
        let failed =
            |error: String| SqlFailure::new(code::INTERNAL, format!("the query has no thread: {error}"));
        let thread = thread::Builder::new().name("oasis-sql".into()).spawn(move || {
            lower_priority(BACKGROUND);
            let _ = send.send(self.answer());
        });
        thread.map_err(|error| failed(error.to_string()))?;
        receive.await.map_err(|error| failed(error.to_string()))?
    }

    fn answer(mut self) -> Result<QueryOutcome, SqlFailure> {
        let sql = self.queries.open(&self.caller, self.has_left, self.time)?;
        let catalogue = Catalogue::of(sql.tables());
        let (parameters, values) = with_types(&mut self.tokens, self.values, &catalogue)?;
        let rendered = translate(self.tokens)?;
        extend(&sql, &catalogue, &self.session, &rendered.sql).map_err(|error| failure(&error, &rendered))?;
        let mut answer = Answer::new(self.budget);
        match sql.query_with(&rendered.sql, &values, &mut answer) {
            Ok(()) => {}
            Err(SqlError::Output(_)) if answer.is_cut() => {}
            Err(error) => return Err(failure(&error, &rendered)),
        }
        let names_catalogue = catalogue::is_named(&rendered.sql);
        let types = answer.types(|column| {
            let of_samples = catalogue.column_type(&rendered.sql, column);
            of_samples.or_else(|| catalogue::type_of(column).filter(|_| names_catalogue))
        });
        Ok(QueryOutcome { answer, types, parameters })
    }
}

/// Gives texts and parameters of unknown type the type of the column that they are compared with, as PostgreSQL does.
/// SQLite would compare a number with a text, which is never equal.
fn with_types(
    tokens: &mut [Token],
    values: Vec<(u32, Value)>,
    catalogue: &Catalogue,
) -> Result<(Vec<u32>, Vec<Value>), SqlFailure> {
    let text: String = tokens.iter().map(|token| token.text.as_str()).collect::<Vec<_>>().join(" ");
    let type_of = |known: Option<Context>| match known {
        Some(Context::Type(oid)) => oid,
        Some(Context::Column(name)) => catalogue.column_type(&text, &name).map_or(0, ValueType::oid),
        None => 0,
    };
    let is_number =
        |oid: u32| [ValueType::Int8, ValueType::Float8, ValueType::Bool].map(ValueType::oid).contains(&oid);
    for at in 0..tokens.len() {
        if tokens[at].kind == Kind::Text && is_number(type_of(context(tokens, at))) {
            let content = tokens[at].content();
            if content.trim().parse::<f64>().is_ok_and(f64::is_finite) {
                tokens[at] = Token::new(Kind::Number, format!("({})", content.trim()), tokens[at].at);
            }
        }
    }
    let known: Vec<_> = parameter_contexts(tokens).into_iter().map(type_of).collect();
    let mut types = Vec::with_capacity(values.len());
    let mut typed = Vec::with_capacity(values.len());
    for (at, (oid, value)) in values.into_iter().enumerate() {
        let by_place = known.get(at).copied().unwrap_or_default();
        types.push(if oid == 0 { by_place } else { oid });
        typed.push(match value {
            Value::Text(text) if oid == 0 && is_number(by_place) => {
                parameter(by_place, false, Some(text.as_bytes()))?
            }
            value => value,
        });
    }
    Ok((types, typed))
}

/// Adds what PostgreSQL has and SQLite has not.
fn extend(sql: &GuardedSql, catalogue: &Catalogue, session: &Session, text: &str) -> Result<(), SqlError> {
    sql.extend(|connection| {
        functions::define(connection, now().0)?;
        catalogue::add(connection, catalogue, session, text)
    })
}

/// The error of SQLite as one of PostgreSQL, at its place in the statement.
fn failure(error: &SqlError, rendered: &Rendered) -> SqlFailure {
    let code = match error {
        SqlError::Statement { message, .. } => code_of(message),
        SqlError::Sqlite(error) => code_of(&error.to_string()),
        SqlError::UnknownTable(_) => code::UNKNOWN_TABLE,
        SqlError::Writes => code::READ_ONLY,
        SqlError::Forbidden => code::FORBIDDEN,
        SqlError::TimeUp(_) | SqlError::Left => code::CANCELED,
        SqlError::Memory(_) | SqlError::TooLarge(_) => code::MEMORY,
        SqlError::Open(_) | SqlError::Read(_) | SqlError::Other(_) => code::FILES,
        SqlError::Output(_) => code::INTERNAL,
    };
    match error {
        SqlError::Statement { message, line, column } => {
            SqlFailure::new(code, message.clone()).at(rendered.origin(byte_at(&rendered.sql, *line, *column)))
        }
        SqlError::Left => SqlFailure::new(code, "canceling statement due to user request"),
        error => SqlFailure::new(code, error.to_string()),
    }
}

/// The byte at a line and a column, both from 1.
fn byte_at(text: &str, line: usize, column: usize) -> usize {
    let begin: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let letters = text[begin.min(text.len())..].char_indices();
    begin + letters.skip(column.saturating_sub(1)).map(|(at, _)| at).next().unwrap_or_default()
}

/// The code of a message of SQLite.
fn code_of(message: &str) -> &'static str {
    const CODES: &[(&str, &str)] = &[
        ("no such table", code::UNKNOWN_TABLE),
        ("no such column", code::UNKNOWN_COLUMN),
        ("no such function", code::UNKNOWN_FUNCTION),
        ("wrong number of arguments", code::UNKNOWN_FUNCTION),
        ("syntax error", code::SYNTAX),
        ("incomplete input", code::SYNTAX),
        ("ambiguous column", code::UNKNOWN_COLUMN),
        ("invalid", code::BAD_VALUE),
        ("not supported", code::UNSUPPORTED),
        ("time is compared", code::BAD_VALUE),
        ("time_ns is compared", code::BAD_VALUE),
        ("does not exist", code::UNKNOWN_TABLE),
        ("unrecognized configuration", code::UNKNOWN_SETTING),
        ("too big", code::LIMIT),
        ("too large", code::LIMIT),
        ("too many", code::LIMIT),
    ];
    CODES.iter().find(|(part, _)| message.contains(part)).map_or(code::SYNTAX, |(_, code)| code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_are_bytes() {
        assert_eq!(byte_at("ab\ncd", 2, 2), 4);
        assert_eq!(byte_at("äb", 1, 2), 2);
        assert_eq!(byte_at("", 3, 9), 0);
    }

    #[test]
    fn messages_of_sqlite_have_codes() {
        assert_eq!(code_of("no such table: x"), code::UNKNOWN_TABLE);
        assert_eq!(code_of("near \"x\": syntax error"), code::SYNTAX);
    }
}
