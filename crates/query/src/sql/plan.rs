//! Extracts the conditions of a query on node, instance and time, so that only matching files are read.

use super::table::{INSTANCE, NODE, TIME, TIME_NS, TIMES};
use rusqlite::{
    Error,
    types::ValueRef,
    vtab::{Filters, IndexConstraintOp, IndexInfo},
};

/// Returns the letter of a constraint, which identifies its value to the reader.
fn letter(column: i32, operator: IndexConstraintOp) -> Option<char> {
    use IndexConstraintOp::{
        SQLITE_INDEX_CONSTRAINT_EQ as EQ, SQLITE_INDEX_CONSTRAINT_GE as GE, SQLITE_INDEX_CONSTRAINT_GT as GT,
        SQLITE_INDEX_CONSTRAINT_LE as LE, SQLITE_INDEX_CONSTRAINT_LT as LT,
    };
    let of_time = |equal, at_least, above, at_most, below| match operator {
        EQ => Some(equal),
        GE => Some(at_least),
        GT => Some(above),
        LE => Some(at_most),
        LT => Some(below),
        _ => None,
    };
    match column {
        NODE if operator == EQ => Some('n'),
        INSTANCE if operator == EQ => Some('i'),
        TIME => of_time('e', 'f', 'a', 'u', 'b'),
        TIME_NS => of_time('E', 'F', 'A', 'U', 'B'),
        _ => None,
    }
}

/// Whether the reader compares a column by this collation. A query can name another, such as `NOCASE`, and the left side of a comparison of columns has one.
fn is_own(column: i32, collation: &str) -> bool {
    match column {
        TIME => collation.eq_ignore_ascii_case(TIMES),
        NODE | INSTANCE => collation.eq_ignore_ascii_case("BINARY"),
        // Numbers have none.
        _ => true,
    }
}

/// Chooses the constraints for the reader: a letter for each value.
pub fn choose(info: &mut IndexInfo, keys: i32) {
    let mut letters = String::new();
    let collated: Vec<bool> = info
        .constraints()
        .enumerate()
        .map(|(at, constraint)| info.collation(at).is_ok_and(|name| is_own(constraint.column(), name)))
        .collect();
    for ((constraint, mut usage), is_own_collation) in info.constraints_and_usages().zip(collated) {
        let letter = letter(constraint.column(), constraint.operator());
        let Some(letter) = letter.filter(|_| constraint.is_usable() && is_own_collation) else { continue };
        letters.push(letter);
        usage.set_argv_index(i32::try_from(letters.len()).unwrap_or(i32::MAX));
        // Times as text are compared only here; numbers and names are checked again by SQLite, which is cheap.
        usage.set_omit(letter.is_lowercase() && letter != 'n' && letter != 'i');
    }
    let has = |any: &str| letters.contains(|letter| any.contains(letter));
    let mut cost = 1e9;
    for (any, factor) in [("n", 0.1), ("i", 0.1), ("efaEFA", 0.2), ("eubEUB", 0.2)] {
        cost *= if has(any) { factor } else { 1.0 };
    }
    info.set_estimated_cost(cost);
    info.set_estimated_rows(cost as i64 / 100);
    info.set_idx_num(columns_used(info.col_used() >> keys, 64 - keys));
    info.set_idx_str(&letters);
}

/// Returns the number of leading metric columns in use, from a bit for each; the last bit stands for all further columns.
fn columns_used(bits: u64, width: i32) -> i32 {
    let used = 64 - bits.leading_zeros() as i32;
    if used >= width { i32::MAX } else { used }
}

/// The requested rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RowFilter {
    /// Restricts the scan to this node.
    pub node: Option<String>,
    /// Restricts the scan to this instance.
    pub instance: Option<String>,
    /// From this time on, nanoseconds.
    pub from: u64,
    /// Before this time; `None` without end.
    pub to: Option<u64>,
    /// Contradictory conditions: no rows.
    pub is_empty: bool,
}

impl RowFilter {
    /// Creates it from the constraints.
    pub fn understand(letters: &str, values: &Filters<'_>) -> rusqlite::Result<Self> {
        let mut wanted = Self::default();
        for (letter, value) in letters.chars().zip(values.iter()) {
            match letter {
                'n' => wanted.is_empty |= !narrow(&mut wanted.node, value),
                'i' => wanted.is_empty |= !narrow(&mut wanted.instance, value),
                _ => match time_of(letter, value)? {
                    Some(time) => wanted.bound(letter.to_ascii_lowercase(), time),
                    None => wanted.is_empty = true,
                },
            }
        }
        wanted.is_empty |= wanted.to.is_some_and(|to| to <= wanted.from);
        Ok(wanted)
    }

    /// Whether a time is of the requested span.
    pub fn contains(&self, time: u64) -> bool {
        time >= self.from && self.to.is_none_or(|to| time < to)
    }

    fn bound(&mut self, letter: char, time: i128) {
        // A real can exceed all integers.
        let after = time.saturating_add(1);
        let within = |time: i128| u64::try_from(time.max(0)).unwrap_or(u64::MAX);
        let (from, to) = match letter {
            'e' => (time, Some(after)),
            'f' => (time, None),
            'a' => (after, None),
            'u' => (0, Some(after)),
            _ => (0, Some(time)),
        };
        self.from = self.from.max(within(from));
        if let Some(to) = to.map(within) {
            self.to = Some(self.to.map_or(to, |known| known.min(to)));
        }
    }
}

/// Adds a required value. Returns whether it agrees with earlier ones.
fn narrow(known: &mut Option<String>, value: ValueRef<'_>) -> bool {
    match value {
        ValueRef::Text(text) => {
            let Ok(text) = str::from_utf8(text) else { return false };
            known.get_or_insert_with(|| text.to_owned()) == text
        }
        // A name of digits equals a number if the other side has a numeric affinity. SQLite checks again.
        ValueRef::Integer(_) | ValueRef::Real(_) => true,
        ValueRef::Null | ValueRef::Blob(_) => false,
    }
}

/// Returns the time of a value; `None` if it compares with nothing.
fn time_of(letter: char, value: ValueRef<'_>) -> rusqlite::Result<Option<i128>> {
    match value {
        ValueRef::Null => Ok(None),
        // Rounded outwards: SQLite checks again.
        ValueRef::Integer(time) if letter.is_uppercase() => Ok(Some(time.into())),
        ValueRef::Real(time) if letter.is_uppercase() => {
            Ok(Some(if letter == 'U' || letter == 'B' { time.ceil() } else { time.floor() } as i128))
        }
        _ if letter.is_uppercase() => {
            Err(Error::ModuleError("time_ns is compared with text: write nanoseconds since 1970, or use time".into()))
        }
        ValueRef::Text(text) => {
            let text = String::from_utf8_lossy(text);
            match oasis_wire::time::parse_date(&text) {
                Some(time) => Ok(Some(time)),
                None => Err(Error::ModuleError(format!(
                    "time is compared with {text:?}: write a date and time such as '2026-05-04T12:00:00Z' or '2026-05-04 12:00', datetime('now', '-15 minutes') for how long ago, or use time_ns"
                ))),
            }
        }
        _ => Err(Error::ModuleError("time is compared with a number: write a date and time such as '2026-05-04T12:00:00Z', or use time_ns".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_decoded_up_to_the_last_one_in_use() {
        assert_eq!([0, 0b1, 0b100, 0b101].map(|bits| columns_used(bits, 55)), [0, 1, 3, 3]);
        assert_eq!([1 << 53, 1 << 54].map(|bits| columns_used(bits, 55)), [54, i32::MAX]);
    }
}
