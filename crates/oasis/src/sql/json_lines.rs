//! An answer as JSON, an object a line.

use oasis_archive::{Rows, SqlValue};
use serde_json::{Map, Value};
use std::io::{self, Write};

/// Lines to this.
pub struct JsonLines<W> {
    out: W,
    columns: Vec<String>,
}

impl<W: Write> JsonLines<W> {
    pub fn new(out: W) -> Self {
        Self { out, columns: Vec::new() }
    }
}

impl<W: Write> Rows for JsonLines<W> {
    fn begin(&mut self, columns: &[String]) -> io::Result<()> {
        self.columns = columns.to_vec();
        Ok(())
    }

    fn row(&mut self, values: &[SqlValue<'_>]) -> io::Result<()> {
        let object: Map<_, _> = self.columns.iter().cloned().zip(values.iter().map(json)).collect();
        writeln!(self.out, "{}", Value::Object(object))
    }
}

fn json(value: &SqlValue<'_>) -> Value {
    match value {
        SqlValue::Null => Value::Null,
        SqlValue::Integer(value) => (*value).into(),
        SqlValue::Real(value) if value.is_finite() => (*value).into(),
        SqlValue::Real(value) => if *value > 0.0 { "Infinity" } else { "-Infinity" }.into(),
        SqlValue::Text(value) => String::from_utf8_lossy(value).into(),
        SqlValue::Blob(value) => super::table::hexadecimal(value).into(),
    }
}
