//! Maps samples to tables: the columns of a probe type, their names, and the cells of a sample.
//!
//! CSV, Arrow, Parquet, SQL and PostgreSQL all use these columns, so that a metric has the same name everywhere.
//! `docs/reference/tables.md` documents the rules for users:
//!
//! - A number, a boolean or a text is a column of its own.
//! - An **enum** is the name of its value as text; a number that the schema does not know is that number as text.
//! - A **struct** has a column for each of its members: `position.x`. Formats with structs of their own keep it whole.
//! - A **vector** is one column: JSON text. Formats with lists of their own keep it a list.
//! - A column that the metric [`ABSENT`] names is empty.
//! - Names are unique whatever their case, and none is that of a [fixed column](FIXED): the second `level` is `level_2`.
//!
//! ```
//! use oasis_format::table::{Cell, Table};
//! use oasis_wire::{schema::ProbeType, value::Value};
//!
//! let arm: ProbeType = serde_json::from_str(r#"{
//!     "name": "Plant::RobotArm", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11", "version": "1.0",
//!     "metrics": [
//!         {"name": "mode", "type": "uint8", "enum": {"name": "Mode", "values": [{"name": "IDLE", "value": 0}]}},
//!         {"name": "at", "type": {"struct": {"name": "Point", "members": [{"name": "x", "type": "real32"}, {"name": "y", "type": "real32"}]}}}
//!     ]
//! }"#)?;
//! let table = Table::new(&arm);
//! assert_eq!(table.name, "plant_robot_arm");
//! assert_eq!(table.columns.iter().map(|column| &column.name[..]).collect::<Vec<_>>(), ["mode", "at.x", "at.y"]);
//!
//! let values = [Value::Uint(0), Value::Struct(vec![Value::Real32(1.5), Value::Real32(2.5)])];
//! assert_eq!(table.cells(&values).collect::<Vec<_>>(), [Cell::Text("IDLE".into()), Cell::Real32(1.5), Cell::Real32(2.5)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cell;
mod column;
mod name;

pub use cell::Cell;
pub use column::{Column, ColumnType, enumerator};
pub use name::table_name;

use oasis_wire::{
    columns,
    schema::{MetricType, ProbeType, SAMPLE_COLUMNS},
    value::Value,
};
pub use oasis_wire::{columns::Names, schema::ABSENT};

/// The columns before the metrics. A format may omit some; no metric has one of these names.
///
/// | column | meaning |
/// |---|---|
/// | `node`, `instance` | source of the sample |
/// | `run` | UUID of the node's run, to which sequence numbers belong |
/// | `epoch` | epoch of the DAC's logs, to which offsets belong, hexadecimal |
/// | `offset` | offset in the topic log |
/// | `sequence` | number of the sample in its run, from 1 |
/// | `time` | when it was taken, on the node's clock, UTC |
/// | `time_ns` | the same as nanoseconds since 1970 |
/// | `state` | state of the probe, 0 is normal |
pub const FIXED: [&str; 9] = SAMPLE_COLUMNS;

/// The table of a probe type.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Its name, unless another type already has it: see [`table_name`].
    pub name: String,
    /// A column for each metric and each member of a struct, in the order of the PDL.
    pub columns: Vec<Column>,
}

impl Table {
    /// Creates the table of a type whose schema was [validated](ProbeType::validate).
    pub fn new(probe_type: &ProbeType) -> Self {
        let absent = probe_type.absent_metric();
        let mut columns = Vec::new();
        columns::visit(probe_type, &mut |name, path, metric| {
            let around = if absent.is_some() { structs_around(probe_type, path) } else { Vec::new() };
            columns.push(Column::new(name, path, metric, (absent, around)));
        });
        Self { name: table_name(&probe_type.name), columns }
    }

    /// Returns the cells of a sample.
    pub fn cells<'a>(&'a self, values: &'a [Value]) -> impl Iterator<Item = Cell<'a>> {
        self.columns.iter().map(|column| column.cell(values))
    }
}

/// The names of the structs on the way to a member.
fn structs_around(probe_type: &ProbeType, path: &[usize]) -> Vec<String> {
    let mut around: Vec<String> = Vec::new();
    let mut members = probe_type.metrics.as_slice();
    for at in path {
        let Some(member) = members.get(*at) else { break };
        let MetricType::Struct(of) = &member.kind else { break };
        around.push(match around.last() {
            Some(outer) => columns::member_name(outer, member),
            None => member.name.clone(),
        });
        members = &of.members;
    }
    around
}

#[cfg(test)]
mod tests;
