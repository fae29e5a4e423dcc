//! The rows of an answer, up to its bounds, before their form is known.

use crate::{
    failure::{SqlFailure, code},
    reply::Replies,
    value_type::{ValueType, is_time},
};
use oasis_query::{Rows, SqlValue};
use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

/// Most rows of an answer.
pub const MAX_ROWS: usize = 100_000;
/// Most bytes of an answer.
const MAX_ANSWER_BYTES: usize = 8 * 1024 * 1024;
/// Most bytes of the answers of all connections.
const MAX_ALL_ANSWERS_BYTES: usize = 64 * 1024 * 1024;
/// Bytes that are taken of the budget at once.
const BUDGET_STEP_BYTES: usize = 64 * 1024;

/// Memory for the answers of all connections.
#[derive(Debug, Clone, Default)]
pub struct AnswerBudget(Arc<AtomicUsize>);

impl AnswerBudget {
    /// Returns the bytes in use.
    pub fn used(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// Bytes of the budget, given back when it is dropped.
#[derive(Debug)]
struct BudgetShare {
    budget: AnswerBudget,
    bytes: usize,
}

impl BudgetShare {
    /// Takes as much as this answer needs. Whether there was enough.
    fn grow_to(&mut self, bytes: usize) -> bool {
        while self.bytes < bytes {
            let before = self.budget.0.fetch_add(BUDGET_STEP_BYTES, Ordering::Relaxed);
            self.bytes += BUDGET_STEP_BYTES;
            if before + BUDGET_STEP_BYTES > MAX_ALL_ANSWERS_BYTES {
                return false;
            }
        }
        true
    }
}

impl Drop for BudgetShare {
    fn drop(&mut self) {
        self.budget.0.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Kinds of values that a column has.
#[derive(Debug, Clone, Copy, Default)]
struct ColumnValues {
    whole: bool,
    /// A whole number other than 0 and 1.
    large: bool,
    real: bool,
    text: bool,
    time: bool,
    bytes: bool,
}

/// The rows of an answer.
#[derive(Debug)]
pub struct Answer {
    names: Vec<String>,
    seen: Vec<ColumnValues>,
    /// The values, each with its kind.
    values: Vec<u8>,
    rows: usize,
    end: AnswerEnd,
    share: BudgetShare,
}

/// The end of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnswerEnd {
    Complete,
    /// More rows or bytes than the bounds admit.
    Cut,
    /// The answers of all connections have their bound.
    NoMemory,
}

const NULL: u8 = 0;
const INTEGER: u8 = 1;
const REAL: u8 = 2;
const TEXT: u8 = 3;
const BYTES: u8 = 4;

impl Answer {
    /// No rows.
    pub fn new(budget: AnswerBudget) -> Self {
        let share = BudgetShare { budget, bytes: 0 };
        Self {
            names: Vec::new(),
            seen: Vec::new(),
            values: Vec::new(),
            rows: 0,
            end: AnswerEnd::Complete,
            share,
        }
    }

    /// A row of texts.
    pub fn of_texts<'a>(
        names: &[&str],
        rows: impl IntoIterator<Item = Vec<&'a str>>,
        budget: AnswerBudget,
    ) -> Self {
        let mut answer = Self::new(budget);
        let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut pushed = answer.begin(&names);
        for row in rows {
            let values: Vec<_> = row.iter().map(|text| SqlValue::Text(text.as_bytes())).collect();
            pushed = pushed.and_then(|()| answer.row(&values));
        }
        answer
    }

    /// Whether rows are missing for a reason that the client learns at their place.
    pub fn is_cut(&self) -> bool {
        self.end != AnswerEnd::Complete
    }

    /// Names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Number of the rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Types of the columns, by their values; `hint` is what is known of a name.
    pub fn types(&self, mut hint: impl FnMut(&str) -> Option<ValueType>) -> Vec<ValueType> {
        self.names.iter().zip(&self.seen).map(|(name, seen)| seen.resolve(hint(name))).collect()
    }

    /// The error after the last row, if rows are missing.
    pub fn failure(&self) -> Option<SqlFailure> {
        match self.end {
            AnswerEnd::Complete => None,
            AnswerEnd::Cut => Some(SqlFailure::new(
                code::LIMIT,
                format!(
                    "the answer has more than {MAX_ROWS} rows or {MAX_ANSWER_BYTES} bytes: add LIMIT, or group"
                ),
            )),
            AnswerEnd::NoMemory => Some(SqlFailure::new(
                code::MEMORY,
                format!(
                    "the answers of all connections have more than {MAX_ALL_ANSWERS_BYTES} bytes: repeat it later"
                ),
            )),
        }
    }

    /// Starts to read the rows.
    pub fn reader(&self) -> RowPosition {
        RowPosition::default()
    }

    /// Writes the next row. Returns whether there was one.
    pub fn write_row(
        &self,
        at: &mut RowPosition,
        types: &[ValueType],
        is_binary: impl Fn(usize) -> bool,
        replies: &mut Replies,
    ) -> bool {
        if at.row == self.rows {
            return false;
        }
        at.row += 1;
        replies.row(types.len(), |out| {
            for (column, kind) in types.iter().enumerate() {
                kind.write(self.value(&mut at.byte), is_binary(column), out);
            }
        });
        true
    }

    /// Reads a value and moves on.
    fn value(&self, at: &mut usize) -> SqlValue<'_> {
        let left = self.values.get(*at..).unwrap_or_default();
        let Some((kind, left)) = left.split_first() else { return SqlValue::Null };
        *at += 1;
        let mut number = || {
            *at += 8;
            left.first_chunk::<8>().copied().unwrap_or_default()
        };
        match *kind {
            INTEGER => SqlValue::Integer(i64::from_ne_bytes(number())),
            REAL => SqlValue::Real(f64::from_ne_bytes(number())),
            TEXT | BYTES => {
                let length = left.first_chunk::<4>().copied().map_or(0, u32::from_ne_bytes) as usize;
                *at += 4 + length;
                let bytes = left.get(4..4 + length).unwrap_or_default();
                if *kind == TEXT { SqlValue::Text(bytes) } else { SqlValue::Blob(bytes) }
            }
            _ => SqlValue::Null,
        }
    }

    fn push(&mut self, column: usize, value: &SqlValue<'_>) {
        let seen = &mut self.seen[column];
        match *value {
            SqlValue::Null => self.values.push(NULL),
            SqlValue::Integer(number) => {
                (seen.whole, seen.large) = (true, seen.large || !(0..=1).contains(&number));
                self.values.push(INTEGER);
                self.values.extend_from_slice(&number.to_ne_bytes());
            }
            SqlValue::Real(number) => {
                seen.real = true;
                self.values.push(REAL);
                self.values.extend_from_slice(&number.to_ne_bytes());
            }
            SqlValue::Text(bytes) | SqlValue::Blob(bytes) => {
                let is_text = matches!(value, SqlValue::Text(_));
                match (is_text, is_text && is_time(bytes)) {
                    (_, true) => seen.time = true,
                    (true, _) => seen.text = true,
                    (false, _) => seen.bytes = true,
                }
                self.values.push(if is_text { TEXT } else { BYTES });
                self.values.extend_from_slice(&(bytes.len() as u32).to_ne_bytes());
                self.values.extend_from_slice(bytes);
            }
        }
    }
}

impl ColumnValues {
    fn resolve(self, hint: Option<ValueType>) -> ValueType {
        let Self { whole, large, real, text, time, bytes } = self;
        match (whole || real, text, time, bytes) {
            (false, false, false, false) => hint.unwrap_or(ValueType::Text),
            (true, false, false, false) if real || hint == Some(ValueType::Float8) => ValueType::Float8,
            (true, false, false, false) if hint == Some(ValueType::Bool) && !large => ValueType::Bool,
            (true, false, false, false) => ValueType::Int8,
            (false, false, true, false) => ValueType::Timestamptz,
            (false, false, false, true) => ValueType::Bytea,
            _ => ValueType::Text,
        }
    }
}

impl Rows for Answer {
    fn begin(&mut self, columns: &[String]) -> io::Result<()> {
        self.names = columns.to_vec();
        self.seen = vec![ColumnValues::default(); columns.len()];
        Ok(())
    }

    fn row(&mut self, values: &[SqlValue<'_>]) -> io::Result<()> {
        let begin = self.values.len();
        for (column, value) in values.iter().enumerate() {
            self.push(column, value);
        }
        let is_full = self.rows == MAX_ROWS || self.values.len() > MAX_ANSWER_BYTES;
        if is_full || !self.share.grow_to(self.values.len()) {
            self.values.truncate(begin);
            self.end = if is_full { AnswerEnd::Cut } else { AnswerEnd::NoMemory };
            return Err(io::Error::other("the answer has its bounds"));
        }
        self.rows += 1;
        Ok(())
    }
}

/// Position of the next row to read.
#[derive(Debug, Clone, Copy, Default)]
pub struct RowPosition {
    row: usize,
    byte: usize,
}

impl RowPosition {
    /// Whether no row is left.
    pub fn is_at_end(self, answer: &Answer) -> bool {
        self.row == answer.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(rows: &[&[SqlValue<'_>]]) -> Answer {
        let mut answer = Answer::new(AnswerBudget::default());
        let names: Vec<_> = (0..rows[0].len()).map(|at| format!("c{at}")).collect();
        answer.begin(&names).unwrap();
        rows.iter().for_each(|row| answer.row(row).unwrap());
        answer
    }

    #[test]
    fn types_follow_the_values() {
        let time = SqlValue::Text(b"2026-05-04T12:00:00.000000000Z");
        let (one, half, word) = (SqlValue::Integer(1), SqlValue::Real(0.5), SqlValue::Text(b"a"));
        let found = answer(&[
            &[one, one, time, time, SqlValue::Blob(b"a")],
            &[one, half, time, word, SqlValue::Null],
        ]);
        let none = |_: &str| None;
        let wanted =
            [ValueType::Int8, ValueType::Float8, ValueType::Timestamptz, ValueType::Text, ValueType::Bytea];
        assert_eq!(found.types(none), wanted);
        assert_eq!(found.types(|_| Some(ValueType::Bool))[0], ValueType::Bool);
        let empty = answer(&[&[SqlValue::Null]]);
        assert_eq!(empty.types(none), [ValueType::Text]);
        assert_eq!(empty.types(|_| Some(ValueType::Int8)), [ValueType::Int8]);
    }

    #[test]
    fn rows_are_read_as_they_were_written() {
        let found =
            answer(&[&[SqlValue::Integer(7), SqlValue::Null], &[SqlValue::Real(1.5), SqlValue::Text(b"x")]]);
        let (mut at, mut replies) = (found.reader(), Replies::default());
        let types = found.types(|_| None);
        while found.write_row(&mut at, &types, |_| false, &mut replies) {}
        let wanted = b"D\0\0\0\x0f\0\x02\0\0\0\x017\xff\xff\xff\xffD\0\0\0\x12\0\x02\0\0\0\x031.5\0\0\0\x01x";
        assert_eq!(replies.0, wanted);
    }

    #[test]
    fn an_answer_is_cut_at_its_bounds_and_gives_its_memory_back() {
        let budget = AnswerBudget::default();
        let long = vec![b'x'; MAX_ANSWER_BYTES / 2];
        let full = || {
            let mut answer = Answer::new(budget.clone());
            answer.begin(&["text".into()]).unwrap();
            let pushed = [(); 2].map(|()| answer.row(&[SqlValue::Text(&long)]).is_ok());
            (pushed, answer)
        };
        let all: Vec<_> = (0..20).map(|_| full()).collect();
        assert_eq!(all[0].0, [true, false]);
        assert_eq!(all[0].1.failure().unwrap().code, code::LIMIT);
        assert_eq!(all[19].0, [false, false]);
        assert_eq!(all[19].1.failure().unwrap().code, code::MEMORY);
        drop(all);
        assert_eq!(budget.used(), 0);
    }
}
