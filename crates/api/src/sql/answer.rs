//! The rows of an answer, up to its bounds.

use super::Form;
use oasis_doors::view::Integers;
use oasis_format::{RowWriter, json_lines, table::Cell};
use oasis_query::{Rows, SqlValue, cell};
use serde_json::Value;
use std::io;

/// Most rows of an answer.
const MAX_ROWS: usize = 100_000;
/// Most bytes of an answer.
const MOST_BYTES: usize = 8 * 1024 * 1024;
/// Bytes of a value in addition to its text.
const VALUE_OVERHEAD_BYTES: usize = 3;

/// Collects rows until an answer has its bounds.
pub struct Answer {
    form: Form,
    integers: Integers,
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
    is_cut: bool,
    bytes: usize,
}

/// An answer.
#[derive(Debug)]
pub enum Collected {
    /// Rows of values.
    Json {
        /// Names of the columns.
        columns: Vec<String>,
        /// Their values.
        rows: Vec<Vec<Value>>,
        /// Whether there are more.
        more: bool,
    },
    /// Text.
    Csv {
        /// With a line for each row.
        text: Vec<u8>,
        /// Whether there are more.
        more: bool,
    },
}

impl Answer {
    /// No rows.
    pub fn new(form: Form, integers: Integers) -> Self {
        // CSV has no rounding.
        let integers = if form == Form::Csv { Integers::Number } else { integers };
        Self { form, integers, columns: Vec::new(), rows: Vec::new(), is_cut: false, bytes: 0 }
    }

    /// Whether there are more rows than the bounds admit.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Returns the answer.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn collected(self) -> io::Result<Collected> {
        let Self { form, columns, rows, is_cut: more, .. } = self;
        if form == Form::Json {
            return Ok(Collected::Json { columns, rows, more });
        }
        let mut text = Vec::new();
        let csv = oasis_format::find("csv").and_then(|format| format.rows.as_ref());
        let csv = csv.ok_or_else(|| io::Error::other("there is no CSV"))?;
        let mut writer: Box<dyn RowWriter + '_> = (csv.open)(&mut text);
        writer.begin(&columns)?;
        for row in &rows {
            writer.row(&row.iter().map(written).collect::<Vec<_>>())?;
        }
        writer.finish()?;
        drop(writer);
        Ok(Collected::Csv { text, more })
    }

    fn value(&self, value: &SqlValue<'_>) -> Value {
        match (value, json_lines::json(&cell(value))) {
            (SqlValue::Integer(_), number) => self.integers.write(number),
            (_, value) => value,
        }
    }
}

impl Rows for Answer {
    fn begin(&mut self, columns: &[String]) -> io::Result<()> {
        self.columns = columns.to_vec();
        Ok(())
    }

    fn row(&mut self, values: &[SqlValue<'_>]) -> io::Result<()> {
        let row: Vec<_> = values.iter().map(|value| self.value(value)).collect();
        self.bytes += row.iter().map(length).sum::<usize>();
        if self.rows.len() == MAX_ROWS || self.bytes > MOST_BYTES {
            self.is_cut = true;
            return Err(io::Error::other("the answer has its bounds"));
        }
        self.rows.push(row);
        Ok(())
    }
}

/// About how many bytes a value has in an answer.
fn length(value: &Value) -> usize {
    VALUE_OVERHEAD_BYTES
        + match value {
            Value::String(text) => text.len(),
            Value::Null => 4,
            other => other.to_string().len(),
        }
}

/// A value, to be written as CSV.
fn written(value: &Value) -> Cell<'_> {
    match value {
        Value::Null => Cell::Nothing,
        Value::Number(number) => match number.as_i64() {
            Some(whole) => Cell::Int(whole),
            None => Cell::Real64(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => Cell::Text(text.as_str().into()),
        other => Cell::Text(other.to_string().into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_cut_at_its_bounds() {
        let mut answer = Answer::new(Form::Json, Integers::String);
        answer.begin(&["n".into()]).unwrap();
        for _ in 0..MAX_ROWS {
            answer.row(&[SqlValue::Integer(1 << 60)]).unwrap();
        }
        assert!(!answer.is_cut());
        assert!(answer.row(&[SqlValue::Integer(1)]).is_err() && answer.is_cut());
        let Collected::Json { rows, more: true, .. } = answer.collected().unwrap() else { panic!() };
        assert_eq!((rows.len(), rows[0][0].as_str()), (MAX_ROWS, Some("1152921504606846976")));
        let mut long = Answer::new(Form::Csv, Integers::Number);
        long.begin(&["text".into()]).unwrap();
        let text = vec![b'x'; MOST_BYTES / 2];
        long.row(&[SqlValue::Text(&text)]).unwrap();
        assert!(long.row(&[SqlValue::Text(&text)]).is_err() && long.is_cut());
        assert!(
            matches!(long.collected().unwrap(), Collected::Csv { more: true, text } if text.len() < MOST_BYTES)
        );
    }
}
