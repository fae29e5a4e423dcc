//! The tables: a probe type's columns in PostgreSQL, and their SQL.

use oasis_format::table::{Column, ColumnType, FIXED, Names, Table};
use oasis_wire::schema::ProbeType;
use std::sync::Arc;

/// Longest name that PostgreSQL does not truncate, less room for a number.
const MAX_NAME: usize = 56;
/// The same for a table, less room for the day of a partition.
const MAX_TABLE_NAME: usize = 40;
/// PostgreSQL's own limits (its appendix "PostgreSQL Limits"): columns of a table, and bytes of a row with its head, where a page has 8 KiB.
const MAX_COLUMNS: usize = 1_600;
const MAX_ROW: usize = 8_160;
/// A row's head, if none of its columns is null.
const ROW_HEAD: usize = 24;
/// Columns that each table has anyway; no other can have these names.
const SYSTEM_COLUMNS: [&str; 6] = ["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"];

/// Columns before the metrics: names and types, in this order.
pub const FIXED_COLUMNS: [(&str, &str); 8] = [
    ("time", "timestamptz"),
    ("time_ns", "bigint"),
    ("node", "text"),
    ("instance", "text"),
    ("run", "uuid"),
    ("epoch", "text"),
    ("sequence", "numeric(20)"),
    ("state", "integer"),
];

/// Why a type cannot have a table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TooWide {
    /// Too many columns.
    #[error("{0} columns exceed PostgreSQL's limit of {MAX_COLUMNS}")]
    Columns(usize),
    /// Rows are too large, even with empty texts.
    #[error("rows of at least {0} bytes exceed PostgreSQL's limit of {MAX_ROW}")]
    Bytes(usize),
}

/// A table for samples of one shape.
#[derive(Debug, Clone)]
pub struct Shape {
    /// Name before it is made unique.
    pub wanted_name: String,
    /// In order, with their PostgreSQL names.
    pub columns: Vec<(String, Column)>,
    /// Identifies the table: types with the same columns share one.
    pub description: Arc<str>,
}

impl Shape {
    /// Creates the shape of a probe type.
    ///
    /// # Errors
    /// If no sample of it fits into a table.
    pub fn of(probe_type: &ProbeType) -> Result<Self, TooWide> {
        let table = Table::new(probe_type);
        let all = FIXED_COLUMNS.len() + table.columns.len();
        if all > MAX_COLUMNS {
            return Err(TooWide::Columns(all));
        }
        let bytes = least_bytes(&table.columns);
        if bytes > MAX_ROW {
            return Err(TooWide::Bytes(bytes));
        }
        let mut names = Names::new(FIXED.into_iter().chain(SYSTEM_COLUMNS));
        let name = |column: Column| (names.unique(cut(&column.name, MAX_NAME)), column);
        let columns: Vec<_> = table.columns.into_iter().map(name).collect();
        let types =
            columns.iter().map(|(name, column)| format!("{} {}", quoted(name), sql_type(&column.kind)));
        let description = format!(
            "{}: {}",
            probe_type.name.replace('\0', "\u{fffd}"),
            types.collect::<Vec<_>>().join(", ")
        );
        let wanted_name = cut(&table.name, MAX_TABLE_NAME).to_owned();
        Ok(Self { wanted_name, columns, description: description.into() })
    }

    /// Returns the statement that creates the table.
    pub fn create(&self, schema: &str, name: &str) -> String {
        let first = FIXED_COLUMNS.iter().map(|(name, kind)| format!("{} {kind} NOT NULL", quoted(name)));
        let metrics =
            self.columns.iter().map(|(name, column)| format!("{} {}", quoted(name), sql_type(&column.kind)));
        let columns: Vec<_> = first.chain(metrics).collect();
        format!(
            "CREATE TABLE IF NOT EXISTS {table} ({columns}, PRIMARY KEY (node, instance, run, sequence, time)) PARTITION BY RANGE (time);
             CREATE TABLE IF NOT EXISTS {rest} PARTITION OF {table} DEFAULT;",
            table = qualified(schema, name),
            columns = columns.join(", "),
            rest = qualified(schema, &format!("{name}_rest")),
        )
    }
}

fn sql_type(kind: &ColumnType) -> &'static str {
    match kind {
        ColumnType::Int(8 | 16) | ColumnType::Uint(8) => "smallint",
        ColumnType::Int(32) | ColumnType::Uint(16) => "integer",
        ColumnType::Int(_) | ColumnType::Uint(32) => "bigint",
        ColumnType::Uint(_) => "numeric(20)",
        ColumnType::Real32 => "real",
        ColumnType::Real64 => "double precision",
        ColumnType::Boolean => "boolean",
        ColumnType::Text | ColumnType::Enum(_) => "text",
        ColumnType::Json(_) => "jsonb",
        ColumnType::Blob => "bytea",
    }
}

/// Returns the bytes of the smallest row: PostgreSQL's documentation ("Database Page Layout") specifies the layout.
fn least_bytes(columns: &[Column]) -> usize {
    let first = FIXED_COLUMNS.iter().map(|(_, kind)| *kind);
    let kinds = first.chain(columns.iter().map(|column| sql_type(&column.kind)));
    let end = kinds.fold(ROW_HEAD, |end, kind| {
        let (bytes, alignment) = least_layout(kind);
        end.next_multiple_of(alignment) + bytes
    });
    end.next_multiple_of(8)
}

/// Returns the smallest size of a column in bytes, and its alignment.
fn least_layout(sql_type: &str) -> (usize, usize) {
    match sql_type {
        "smallint" => (2, 2),
        "integer" | "real" => (4, 4),
        "bigint" | "double precision" | "timestamptz" => (8, 8),
        "uuid" => (16, 1),
        "numeric(20)" => (3, 1),
        "jsonb" => (5, 1),
        // A boolean; the length of a text or of bytes.
        _ => (1, 1),
    }
}

/// Returns the start of a name, in whole characters.
fn cut(name: &str, most: usize) -> &str {
    let end = (0..=most.min(name.len())).rev().find(|end| name.is_char_boundary(*end));
    &name[..end.unwrap_or(0)]
}

/// Returns a name quoted for SQL.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('\0', "\u{fffd}").replace('"', "\"\""))
}

/// Returns a table's name with its schema.
pub fn qualified(schema: &str, table: &str) -> String {
    format!("{}.{}", quoted(schema), quoted(table))
}

#[cfg(test)]
mod tests {
    use super::*;
    use oasis_wire::schema::{Metric, MetricType};

    fn probe_type(metrics: Vec<Metric>) -> ProbeType {
        let base = r#"{"name": "A::B", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11", "version": "1.0", "metrics": []}"#;
        ProbeType { metrics, ..serde_json::from_str(base).unwrap() }
    }

    #[test]
    fn names_are_quoted_cut_and_unique() {
        let long = "ö".repeat(60);
        let metrics = [long.as_str(), &format!("{long}x"), "a\"; DROP TABLE x; --\0", "time"];
        let shape =
            Shape::of(&probe_type(metrics.map(|name| Metric::new(name, MetricType::Uint64)).to_vec()))
                .unwrap();
        let names: Vec<_> = shape.columns.iter().map(|(name, _)| name.clone()).collect();
        assert_eq!(names[..2], ["ö".repeat(28), format!("{}_2", "ö".repeat(28))]);
        assert_eq!(names[3], "time_2");
        let sql = shape.create("o", "a_b");
        assert!(
            sql.contains("\"a\"\"; DROP TABLE x; --\u{fffd}\" numeric(20)") && sql.contains("\"o\".\"a_b\""),
            "{sql}"
        );
    }

    #[test]
    fn types_that_exceed_the_limits_of_a_table_are_refused() {
        let of = |count: usize, kind: MetricType| {
            let metrics = (0..count).map(|number| Metric::new(format!("m{number}"), kind.clone())).collect();
            Shape::of(&probe_type(metrics)).map(|_| ())
        };
        assert_eq!(of(1_592, MetricType::Boolean), Ok(()));
        assert_eq!(of(1_593, MetricType::Boolean), Err(TooWide::Columns(1_601)));
        assert_eq!(of(1_100, MetricType::Real64), Err(TooWide::Bytes(8_872)));
        // All of its texts may be empty.
        assert_eq!(of(1_500, MetricType::String), Ok(()));
    }

    #[test]
    fn no_column_has_the_name_of_one_that_each_table_has() {
        let metrics = ["xmin", "Ctid"].map(|name| Metric::new(name, MetricType::Uint8)).to_vec();
        let shape = Shape::of(&probe_type(metrics)).unwrap();
        let names: Vec<_> = shape.columns.iter().map(|(name, _)| &name[..]).collect();
        assert_eq!(names, ["xmin_2", "Ctid_2"]);
    }
}
