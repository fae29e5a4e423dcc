//! A probe type as a virtual table.

use super::{
    cursor::Cursor,
    plan,
    sight::{self, Sight},
    stop::Stop,
};
use oasis_format::table::{ColumnType, Table};
use oasis_store::{History, ReadError};
use oasis_wire::{
    schema::ProbeType,
    time::{self, parse_date},
};
use rusqlite::{
    Error, ffi,
    vtab::{IndexInfo, Module, VTab, VTabConfig, VTabConnection},
};
use std::{
    borrow::Cow,
    cmp::Ordering,
    ffi::{CStr, CString},
    sync::Arc,
};

/// The virtual table module.
pub const SAMPLES: Module<'static, SamplesTable> = Module::eponymous_only_module();

/// The columns before the metrics, by [`oasis_table::FIXED`]'s names.
pub const KEYS: [&str; 9] =
    ["time", "node", "instance", "sequence", "state", "time_ns", "run", "epoch", "offset"];
/// Index of `time`, and so on.
pub const TIME: i32 = 0;
pub const NODE: i32 = 1;
pub const INSTANCE: i32 = 2;
pub const SEQUENCE: i32 = 3;
pub const STATE: i32 = 4;
pub const TIME_NS: i32 = 5;
pub const RUN: i32 = 6;
pub const EPOCH: i32 = 7;
pub const OFFSET: i32 = 8;

/// A type and the source of its samples.
#[derive(Debug)]
pub struct Samples {
    pub history: History,
    pub probe_type: Arc<ProbeType>,
    pub table: Table,
    /// Which instances there are.
    sight: Arc<dyn Sight>,
    /// When to stop reading.
    pub stop: Stop,
}

impl Samples {
    /// All samples of a type.
    pub fn all(history: History, probe_type: Arc<ProbeType>) -> Self {
        Self::visible(history, probe_type, sight::everything(), Stop::never())
    }

    /// Creates the table of visible instances.
    pub fn visible(history: History, probe_type: Arc<ProbeType>, sight: Arc<dyn Sight>, stop: Stop) -> Self {
        let table = Table::new(&probe_type);
        Self { history, probe_type, table, sight, stop }
    }

    /// Node and name of its visible instances, in order. `node` and `instance` restrict them, if given.
    ///
    /// # Errors
    /// If the catalogue cannot be read.
    pub fn instances(
        &self,
        node: Option<&str>,
        instance: Option<&str>,
    ) -> Result<Vec<(String, String)>, ReadError> {
        let mut all = match (node, instance) {
            // A join asks for one after the other: listing all for each would take longer than reading it.
            (Some(node), Some(instance)) => vec![(node.to_owned(), instance.to_owned())],
            _ => self.history.instances_of(&self.probe_type)?,
        };
        let is_wanted = |asked: Option<&str>, name: &str| asked.is_none_or(|asked| asked == name);
        all.retain(|(of_node, name)| {
            is_wanted(node, of_node) && is_wanted(instance, name) && self.sight.instance(of_node, name)
        });
        Ok(all)
    }
}

/// All columns, with their units.
pub fn columns_of(table: &Table) -> impl Iterator<Item = (&str, Option<&str>)> {
    let metrics = table.columns.iter().map(|column| (column.name.as_str(), column.unit.as_deref()));
    KEYS.into_iter().map(|name| (name, None)).chain(metrics)
}

/// The types of all columns.
pub fn types_of(table: &Table) -> impl Iterator<Item = ColumnType> {
    let key = |name: &str| match name {
        "sequence" | "state" | "time_ns" | "offset" => ColumnType::Int(64),
        _ => ColumnType::Text,
    };
    KEYS.into_iter().map(key).chain(table.columns.iter().map(|column| column.kind.clone()))
}

/// The virtual table.
#[repr(C)]
pub struct SamplesTable {
    /// Required by SQLite as the first field.
    base: ffi::sqlite3_vtab,
    samples: Arc<Samples>,
}

// SAFETY: the struct is `repr(C)` and begins with a `sqlite3_vtab`, as the trait requires.
unsafe impl<'vtab> VTab<'vtab> for SamplesTable {
    type Aux = Arc<Samples>;
    type Cursor = Cursor;

    fn connect(
        db: &mut VTabConnection,
        aux: Option<&Self::Aux>,
        _module_name: &[u8],
        _database_name: &[u8],
        _table_name: &[u8],
        _args: &[&[u8]],
    ) -> rusqlite::Result<(Cow<'static, CStr>, Self)> {
        let samples = aux.ok_or_else(|| Error::ModuleError("the table has no samples".into()))?.clone();
        db.config(VTabConfig::Innocuous)?;
        let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
        let mut columns: Vec<_> = columns_of(&samples.table).map(|(name, _)| quoted(name)).collect();
        columns[TIME as usize] += &format!(" TEXT COLLATE {TIMES}");
        // A query with OR scans once for each side, and tells by the key which rows it has had: numbers of a scan would be others in the next.
        let declared = format!(
            "CREATE TABLE samples({}, PRIMARY KEY(node, instance, epoch, offset)) WITHOUT ROWID",
            columns.join(", ")
        );
        let declared = CString::new(declared);
        let declared =
            declared.map_err(|_| Error::ModuleError("the name of a metric has a zero byte".into()))?;
        Ok((Cow::Owned(declared), Self { base: ffi::sqlite3_vtab::default(), samples }))
    }

    fn best_index(&self, info: &mut IndexInfo) -> rusqlite::Result<bool> {
        plan::choose(info, KEYS.len() as i32);
        Ok(true)
    }

    fn open(&'vtab mut self) -> rusqlite::Result<Cursor> {
        Ok(Cursor::new(self.samples.clone()))
    }
}

/// A time as the column shows it: RFC 3339, UTC, always to the nanosecond, so that texts sort as times do.
pub fn show_time(nanoseconds: u64) -> String {
    time::format_digits(nanoseconds, 9)
}

/// The collation of times as text: in any part of a query, `2026-05-04 12:00` is `2026-05-04T12:00:00.000000000Z`.
pub const TIMES: &str = "times";

/// Compares texts as times if both are valid; other texts sort after all times, byte by byte, so that the order is total.
pub fn compare_times(a: &str, b: &str) -> Ordering {
    // Values of columns sort as texts.
    if is_shown(a) && is_shown(b) {
        return a.cmp(b);
    }
    match (parse_date(a), parse_date(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.cmp(b),
    }
}

/// Whether a text is a time in the form of [`show_time`], digit by digit: `2026-05-04 12:00:00.000000000Z` has its length too.
fn is_shown(text: &str) -> bool {
    let matches = |(byte, form): (u8, u8)| if form == b'0' { byte.is_ascii_digit() } else { byte == form };
    text.len() == TIME_TEXT_BYTES && text.bytes().zip(*b"0000-00-00T00:00:00.000000000Z").all(matches)
}

/// Bytes of a time as [`show_time`] shows it.
const TIME_TEXT_BYTES: usize = "2026-05-04T12:00:00.000000000Z".len();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_times_compare_as_times() {
        let noon = "2026-05-04T12:00:00.000000000Z";
        for (text, order) in [
            (noon, Ordering::Equal),
            ("2026-05-04 12:00", Ordering::Equal),
            ("2026-05-04T14:00:00+02:00", Ordering::Equal),
            ("2026-05-04 12:00:00.000000000Z", Ordering::Equal),
            ("2026-05-04t12:00:00.000000000Z", Ordering::Equal),
            (" 2026-05-04T12:00:00.00000000Z", Ordering::Equal),
            ("2026-05-04 12:00:00.000000001Z", Ordering::Less),
            ("2026-05-04 12:01", Ordering::Less),
            ("2026-05-04", Ordering::Greater),
            ("2026-05-04T12:00:00.000000001Z", Ordering::Less),
            ("then", Ordering::Less),
            ("", Ordering::Less),
            ("2026-05-04 1x", Ordering::Less),
        ] {
            assert_eq!(
                (compare_times(noon, text), compare_times(text, noon)),
                (order, order.reverse()),
                "{text}"
            );
        }
    }

    #[test]
    fn shown_times_sort_as_texts() {
        let noon = 1_777_896_000_000_000_000;
        assert_eq!(show_time(noon + 5), "2026-05-04T12:00:00.000000005Z");
        assert_eq!(show_time(noon).len(), TIME_TEXT_BYTES);
    }
}
