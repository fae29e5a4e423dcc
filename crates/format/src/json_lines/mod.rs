//! JSON lines: one JSON object in each line.

mod read;

use crate::{
    Format, Order, RowFormat, RowWriter, SampleFormat, SampleWriter, Source, WriteError, input::FreeNames,
    table::Cell,
};
use oasis_wire::{batch::Sample, schema::ProbeType, value};
use serde_json::{Map, Value};
use std::{
    io::{self, Write},
    sync::Arc,
};
use uuid::Uuid;

pub(crate) use read::INPUT;

/// JSON lines.
pub(crate) const FORMAT: Format = Format {
    name: "jsonl",
    alias: Some("json"),
    extension: "jsonl",
    is_text: true,
    samples: Some(SampleFormat {
        help: "One JSON object in each line",
        is_table: false,
        order: Order::ByInstance,
        open: |out, _| Ok(Box::new(JsonLines::new(out))),
    }),
    rows: Some(RowFormat { help: "One JSON object in each line", open: |out| Box::new(JsonLines::new(out)) }),
};

/// Writes JSON lines.
struct JsonLines<W> {
    out: W,
    /// Names of the columns of a query result.
    columns: Vec<String>,
}

impl<W: Write> JsonLines<W> {
    fn new(out: W) -> Self {
        Self { out, columns: Vec::new() }
    }

    fn line(&mut self, object: Map<String, Value>) -> io::Result<()> {
        writeln!(self.out, "{}", Value::Object(object))
    }
}

impl<W: Write> SampleWriter for JsonLines<W> {
    fn sample(&mut self, source: &Arc<Source>, state: u16, sample: &Sample) -> Result<(), WriteError> {
        let Source { node, instance, run, probe_type, .. } = &**source;
        Ok(self.line(object((node, instance), Some(run), probe_type, state, sample))?)
    }

    fn finish(&mut self) -> Result<(), WriteError> {
        Ok(self.out.flush()?)
    }
}

impl<W: Write> RowWriter for JsonLines<W> {
    fn begin(&mut self, columns: &[String]) -> io::Result<()> {
        // Columns of one name would be one member.
        let mut free = FreeNames::default();
        self.columns = columns.iter().map(|name| free.take(name)).collect();
        Ok(())
    }

    fn row(&mut self, cells: &[Cell<'_>]) -> io::Result<()> {
        let object = self.columns.iter().cloned().zip(cells.iter().map(json)).collect();
        self.line(object)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Converts a sample to an object, with its run if known.
pub fn object(
    (node, instance): (&str, &str),
    run: Option<&Uuid>,
    probe_type: &ProbeType,
    state: u16,
    sample: &Sample,
) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("node".into(), node.into());
    object.insert("instance".into(), instance.into());
    if let Some(run) = run {
        object.insert("run".into(), run.to_string().into());
    }
    object.insert("sequence".into(), sample.sequence.into());
    object.insert("time".into(), sample.time.into());
    object.insert("state".into(), state.into());
    object.insert("metrics".into(), value::to_json(probe_type, &sample.values).into());
    object
}

/// Converts a cell to JSON. NaN and infinities, which JSON does not have, become strings.
pub fn json(cell: &Cell<'_>) -> Value {
    match cell {
        Cell::Nothing => Value::Null,
        Cell::Int(value) => (*value).into(),
        Cell::Uint(value) => (*value).into(),
        Cell::Real32(value) if value.is_finite() => (*value).into(),
        Cell::Real64(value) if value.is_finite() => (*value).into(),
        Cell::Boolean(value) => (*value).into(),
        Cell::Real32(_) | Cell::Real64(_) | Cell::Text(_) | Cell::Blob(_) => cell.to_string().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_one_name_are_members_of_different_names() {
        let mut out = Vec::new();
        let mut lines = JsonLines::new(&mut out);
        lines.begin(&["n".into(), "n".into()]).unwrap();
        lines.row(&[Cell::Int(1), Cell::Int(2)]).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "{\"n\":1,\"n_2\":2}\n");
    }

    #[test]
    fn a_row_keeps_the_order_of_its_columns_and_infinities_are_text() {
        let mut out = Vec::new();
        let mut lines = JsonLines::new(&mut out);
        lines.begin(&["z".into(), "a".into(), "n".into(), "m".into()]).unwrap();
        let infinite = Cell::Real64(f64::INFINITY);
        lines.row(&[Cell::Real64(20.0), infinite, Cell::Nothing, Cell::Text("x".into())]).unwrap();
        RowWriter::finish(&mut lines).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "{\"z\":20.0,\"a\":\"Infinity\",\"n\":null,\"m\":\"x\"}\n"
        );
    }
}
