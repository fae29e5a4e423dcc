//! A value of a result, whichever engine it is of.

use oasis_query::{Rows, SqlValue};
use serde_json::Value;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    Null,
    Integer(i128),
    Real(f64),
    Text(String),
}

impl Cell {
    pub fn of_sqlite(value: &SqlValue<'_>) -> Self {
        match *value {
            SqlValue::Null => Self::Null,
            SqlValue::Integer(number) => Self::Integer(number.into()),
            SqlValue::Real(number) => Self::Real(number),
            SqlValue::Text(text) | SqlValue::Blob(text) => Self::Text(String::from_utf8_lossy(text).into()),
        }
    }

    /// The value as `ask_duckdb.py` writes it.
    pub fn of_duckdb(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::String(text) => Self::Text(text.clone()),
            Value::Object(of) => match (of.get("integer"), of.get("real")) {
                (Some(Value::String(number)), _) => Self::Integer(number.parse().unwrap()),
                (_, Some(Value::String(number))) => Self::Real(number.parse().unwrap()),
                _ => panic!("{value}"),
            },
            _ => panic!("{value}"),
        }
    }

    /// The value in a column of this type. A real has 12 digits, because sums have another order; a value of another type has the letter of its own before it.
    pub fn show(&self, letter: char) -> String {
        match (self, letter) {
            (Self::Null, _) => "NULL".into(),
            (Self::Integer(number), 'I') => number.to_string(),
            (Self::Integer(number), _) => format!("I:{number}"),
            (Self::Real(number), 'R') => show_real(*number),
            (Self::Real(number), _) => format!("R:{}", show_real(*number)),
            (Self::Text(text), 'T') if text.is_empty() => "(empty)".into(),
            (Self::Text(text), 'T') => text.chars().flat_map(show_character).collect(),
            (Self::Text(text), _) => {
                format!("T:{}", text.chars().flat_map(show_character).collect::<String>())
            }
        }
    }
}

fn show_character(character: char) -> Vec<char> {
    match character.is_control() {
        true => character.escape_default().collect(),
        false => vec![character],
    }
}

fn show_real(number: f64) -> String {
    if number.is_infinite() {
        return if number > 0.0 { "Infinity" } else { "-Infinity" }.into();
    }
    // SQL does not distinguish -0.0, which becomes 0.0.
    let rounded: f64 = format!("{number:.11e}").parse().unwrap();
    format!("{:?}", rounded + 0.0)
}

/// Rows of a result.
#[derive(Debug, Default)]
pub struct CellRows(pub Vec<Vec<Cell>>);

impl Rows for CellRows {
    fn begin(&mut self, _: &[String]) -> std::io::Result<()> {
        Ok(())
    }

    fn row(&mut self, values: &[SqlValue<'_>]) -> std::io::Result<()> {
        self.0.push(values.iter().map(Cell::of_sqlite).collect());
        Ok(())
    }
}
