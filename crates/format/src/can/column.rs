//! The column of a signal.

use super::Signal;
use crate::input::{Column, names::without_controls, unit_of};
use oasis_wire::schema::{EnumType, Enumerator};
use std::collections::HashSet;

/// Returns the column of a signal, before it has values.
pub fn signal_column(signal: &Signal) -> Column {
    let mut column = Column::new(without_controls(&signal.name)).with_unit(unit_of(&signal.unit));
    column.has_integers = true;
    column.doc.clone_from(&signal.comment);
    if column.unit.is_none() && !signal.unit.trim().is_empty() {
        let unit = format!("Unit: {}", signal.unit.trim());
        column.doc = Some(column.doc.map_or(unit.clone(), |doc| format!("{doc}\n{unit}")));
    }
    let is_named = signal.is_unscaled() && !signal.values.is_empty();
    let fits = |value: &i64| (i64::from(i32::MIN)..=i64::from(u32::MAX)).contains(value);
    if is_named && signal.values.iter().all(|(value, _)| fits(value)) {
        let mut known = HashSet::new();
        let values = signal.values.iter().filter(|(value, _)| known.insert(*value));
        let values = values.map(|(value, name)| Enumerator { name: name.clone(), value: *value, doc: None });
        column.enumeration = Some(EnumType { name: signal.name.clone(), values: values.collect() });
    }
    column
}
