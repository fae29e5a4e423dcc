//! The families of a probe type: names, kinds and helps of the metrics, as Prometheus knows them. Remote write has the same.

use crate::exposition::Kind;
use oasis_format::table::{Cell, Column, Table};
use oasis_wire::{
    schema::{Behavior, ProbeType},
    value::Value,
};
use std::sync::Arc;

/// The metric of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Family {
    /// `TABLE_COLUMN`, in the letters that a metric's name may have, without the `_total` of a counter.
    pub name: String,
    /// Counter or gauge.
    pub kind: Kind,
    /// The text for people, with the unit.
    pub help: String,
    /// The unit, as the schema has it.
    pub unit: Option<String>,
}

/// A probe type, and the family of each of its columns.
#[derive(Debug)]
pub struct Families {
    probe_type: Arc<ProbeType>,
    table: Table,
    families: Vec<Family>,
}

impl Families {
    /// Names the columns of a probe type.
    pub fn new(probe_type: &Arc<ProbeType>) -> Self {
        let table = Table::new(probe_type);
        let families = table.columns.iter().map(|column| family(&table.name, column)).collect();
        Self { probe_type: probe_type.clone(), table, families }
    }

    /// Returns the probe type.
    pub fn probe_type(&self) -> &ProbeType {
        &self.probe_type
    }

    /// Returns the family of each column. Two columns can have the same.
    pub fn families(&self) -> &[Family] {
        &self.families
    }

    /// Returns the cells of a sample with their families.
    pub fn columns<'a>(&'a self, values: &'a [Value]) -> impl Iterator<Item = (&'a Family, Cell<'a>)> {
        self.families.iter().zip(self.table.cells(values))
    }
}

impl Family {
    /// Returns the name of its series.
    pub fn series_name(&self) -> String {
        match self.kind {
            Kind::Counter => format!("{}_total", self.name),
            Kind::Gauge => self.name.clone(),
        }
    }
}

fn family(table: &str, column: &Column) -> Family {
    let kind = if column.behavior == Some(Behavior::Counter) { Kind::Counter } else { Kind::Gauge };
    let plain = |character: char| {
        if character.is_ascii_alphanumeric() { character.to_ascii_lowercase() } else { '_' }
    };
    let mut name: String = format!("{table}_{}", column.name).chars().map(plain).collect();
    if name.starts_with(|first: char| first.is_ascii_digit()) {
        name.insert(0, '_');
    }
    let name = match name.strip_suffix("_total").filter(|_| kind == Kind::Counter) {
        Some(stem) => stem.to_owned(),
        None => name,
    };
    let unit = column.unit.as_deref().map(str::to_owned);
    Family { name, kind, help: help(column), unit }
}

fn help(column: &Column) -> String {
    let doc = column.doc.as_deref().unwrap_or(&column.name).trim();
    match &column.unit {
        Some(unit) => format!("{doc} [{unit}]"),
        None => doc.to_owned(),
    }
}
