//! The tables that a query can use, with their numbers and types in PostgreSQL.

use crate::value_type::ValueType;
use oasis_format::table::ColumnType;
use oasis_query::TableInfo;
use std::sync::Arc;

/// Number of the first table.
const FIRST_OID: i64 = 16_384;
/// Number of the schema `public`.
pub const PUBLIC_OID: i64 = 2_200;

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnInfo {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: ValueType,
    /// Its unit.
    pub unit: Option<String>,
}

/// A table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relation {
    /// Its number.
    pub oid: i64,
    /// Its name.
    pub name: String,
    /// The meaning of its rows.
    pub about: String,
    /// Its columns.
    pub columns: Vec<ColumnInfo>,
}

/// All tables that the author of a query can use.
#[derive(Debug, Clone, Default)]
pub struct Catalogue(pub Arc<Vec<Relation>>);

/// The session that a query belongs to.
#[derive(Debug, Clone, Default)]
pub struct Session {
    /// The user's name.
    pub user: String,
    /// The database's name.
    pub database: String,
    /// Number of the connection.
    pub process: u32,
    /// Names and values of the settings.
    pub settings: Arc<Vec<(&'static str, String)>>,
}

impl Catalogue {
    /// The catalogue of these tables.
    pub fn of<'a>(tables: impl Iterator<Item = &'a TableInfo>) -> Self {
        let relation = |(oid, table): (i64, &TableInfo)| {
            let kind = |at: usize, name: &str| match table.types.get(at) {
                _ if is_time(name) => ValueType::Timestamptz,
                Some(kind) => type_of(kind),
                None => type_by_name(name),
            };
            let columns = table.columns.iter().enumerate().map(|(at, (name, unit))| ColumnInfo {
                name: name.clone(),
                kind: kind(at, name),
                unit: unit.clone(),
            });
            Relation { oid, name: table.name.clone(), about: table.about.clone(), columns: columns.collect() }
        };
        Self(Arc::new((FIRST_OID..).zip(tables).map(relation).collect()))
    }

    /// Returns the type of a column of the tables that a query names; none if they do not agree.
    pub fn column_type(&self, sql: &str, column: &str) -> Option<ValueType> {
        let sql = sql.to_ascii_lowercase();
        let named = self.0.iter().filter(|table| sql.contains(&table.name.to_ascii_lowercase()));
        let mut kinds =
            named.flat_map(|table| &table.columns).filter(|known| known.name.eq_ignore_ascii_case(column));
        let first = kinds.next()?.kind;
        kinds.all(|other| other.kind == first).then_some(first)
    }
}

fn type_of(kind: &ColumnType) -> ValueType {
    match kind {
        ColumnType::Int(_) | ColumnType::Uint(_) => ValueType::Int8,
        ColumnType::Real32 | ColumnType::Real64 => ValueType::Float8,
        ColumnType::Boolean => ValueType::Bool,
        ColumnType::Text | ColumnType::Enum(_) | ColumnType::Json(_) => ValueType::Text,
        ColumnType::Blob => ValueType::Bytea,
    }
}

/// Whether a column of this name is a time, in samples and in the tables of the catalogue.
fn is_time(name: &str) -> bool {
    const TIMES: &[&str] = &[
        "time",
        "until",
        "written",
        "started",
        "stopped",
        "last_seen",
        "first",
        "last",
        "raised",
        "cleared",
        "shelved_until",
    ];
    TIMES.contains(&name)
}

/// The type of a column of the archive's own tables: `nodes`, `gaps` and so on.
fn type_by_name(name: &str) -> ValueType {
    const INTEGER_COLUMNS: &[&str] = &[
        "id",
        "count",
        "samples",
        "from_sequence",
        "to_sequence",
        "from_offset",
        "to_offset",
        "sequence",
        "missing",
        "seq",
        "of",
    ];
    const REAL_COLUMNS: &[&str] = &["value", "threshold"];
    const BOOLEAN_COLUMNS: &[&str] = &["pinned", "acknowledged", "suppressed", "out_of_service", "late"];
    match name {
        name if name.ends_with("_ns") || INTEGER_COLUMNS.contains(&name) => ValueType::Int8,
        name if REAL_COLUMNS.contains(&name) => ValueType::Float8,
        name if BOOLEAN_COLUMNS.contains(&name) => ValueType::Bool,
        _ => ValueType::Text,
    }
}
