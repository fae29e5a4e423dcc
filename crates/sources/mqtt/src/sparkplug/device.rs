//! A device, or an edge node itself, between its birth and its death.

use oasis_format::{
    columns::{Cell, Column, ColumnTable, Kind},
    visible::shortened,
};
use oasis_mqtt_client::sparkplug::{MetricValue, Metrics, example};
use oasis_wire::schema::ProbeType;
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

/// The metrics of a birth, with their last values.
#[derive(Debug)]
pub struct Device {
    positions: HashMap<String, usize>,
    aliases: HashMap<u64, usize>,
    datatypes: Vec<u64>,
    values: Vec<Scalar>,
    table: ColumnTable,
    row: Vec<u8>,
    /// Metrics of types that are not taken.
    pub left_out: u64,
}

/// A value that is kept.
#[derive(Debug, Clone, PartialEq)]
enum Scalar {
    Absent,
    Boolean(bool),
    Int(i64),
    Uint(u64),
    Real(f64),
    Text(String),
}

/// A metric that the birth did not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownMetric(pub String);

impl Device {
    /// Makes a type of the metrics of a birth.
    pub fn born(type_name: &str, birth: &Metrics<'_>) -> Self {
        let mut columns: Vec<Column> = Vec::new();
        let (mut positions, mut aliases, mut datatypes) = (HashMap::new(), HashMap::new(), Vec::new());
        let mut left_out = 0;
        for metric in &birth.metrics {
            let known = metric.name.filter(|name| !name.is_empty() && !name.chars().any(char::is_control));
            let kind = metric.datatype.and_then(|datatype| example(datatype).map(|cell| (datatype, cell)));
            let (Some(name), Some((datatype, cell))) = (known, kind) else {
                left_out += 1;
                continue;
            };
            if let Some(position) = positions.get(name) {
                aliases.extend(metric.alias.map(|alias| (alias, *position)));
                continue;
            }
            let mut column = Column::new(name).with_unit(metric.unit.map(str::to_owned));
            column.has_integers = true;
            column.survey(cell);
            positions.insert(name.to_owned(), columns.len());
            aliases.extend(metric.alias.map(|alias| (alias, columns.len())));
            columns.push(column);
            datatypes.push(datatype);
        }
        // NaN stands for a real that is null.
        let needs_absent = columns.iter().any(|column| column.kind() != Kind::Real);
        let table = ColumnTable::with_absent(type_name, &columns, needs_absent);
        let values = vec![Scalar::Absent; columns.len()];
        Self { positions, aliases, datatypes, values, table, row: Vec::new(), left_out }
    }

    /// Makes a row of each time of a payload, in its order, and another one where a metric has a second value. A row has the last values of the
    /// metrics that are not sent.
    ///
    /// # Errors
    /// If a metric is unknown; those before it are taken.
    pub fn rows(
        &mut self,
        payload: &Metrics<'_>,
        now: u64,
        mut push: impl FnMut(u64, &Arc<ProbeType>, &[u8]),
    ) -> Result<(), UnknownMetric> {
        let time_of = |metric: &MetricValue<'_>| {
            let milliseconds = metric.timestamp.or(payload.timestamp);
            milliseconds.and_then(|time| time.checked_mul(1_000_000)).unwrap_or(now)
        };
        let mut rest = &payload.metrics[..];
        while let Some(first) = rest.first() {
            let (time, is_historical) = (time_of(first), first.is_historical);
            let is_same =
                |metric: &&MetricValue<'_>| time_of(metric) == time && metric.is_historical == is_historical;
            let mut seen = HashSet::new();
            let is_new = |metric: &&MetricValue<'_>| {
                self.position(metric).is_none_or(|position| seen.insert(position))
            };
            let count = rest.iter().take_while(is_same).take_while(is_new).count();
            let (group, after) = rest.split_at(count);
            rest = after;
            // The past has no other values, and does not change the present.
            let present = is_historical.then(|| {
                let absent = vec![Scalar::Absent; self.values.len()];
                std::mem::replace(&mut self.values, absent)
            });
            let taken = self.take(group);
            if let Ok(true) = taken {
                self.pack();
                push(time, &self.table.probe_type, &self.row);
            }
            if let Some(present) = present {
                self.values = present;
            }
            taken?;
        }
        Ok(())
    }

    /// Returns the column of a metric of data.
    fn position(&self, metric: &MetricValue<'_>) -> Option<usize> {
        let of_alias = metric.alias.and_then(|alias| self.aliases.get(&alias));
        of_alias.or_else(|| metric.name.and_then(|name| self.positions.get(name))).copied()
    }

    /// Takes values. Returns whether there is one.
    fn take(&mut self, metrics: &[MetricValue<'_>]) -> Result<bool, UnknownMetric> {
        let mut is_any = false;
        for metric in metrics {
            let Some(position) = self.position(metric) else {
                // Births name metrics of other types, which data may have as well.
                if self.left_out > 0 {
                    continue;
                }
                let of_alias =
                    || metric.alias.map_or_else(String::new, |alias| format!("with the alias {alias}"));
                let name = metric.name.map_or_else(of_alias, |name| format!("{:?}", shortened(name)));
                return Err(UnknownMetric(name));
            };
            let datatype = self.datatypes.get(position).copied().unwrap_or_default();
            if let Some(value) = self.values.get_mut(position) {
                *value = Scalar::of(metric.cell(datatype));
                is_any = true;
            }
        }
        Ok(is_any)
    }

    /// Makes the last row, in which all metrics are absent: their values are not known any more.
    pub fn die(&mut self) -> (&Arc<ProbeType>, &[u8]) {
        self.values.fill(Scalar::Absent);
        self.pack();
        (&self.table.probe_type, &self.row)
    }

    fn pack(&mut self) {
        let values = &self.values;
        self.table.write(&mut self.row, |column, _| values.get(column).map_or(Cell::Absent, Scalar::cell));
    }
}

impl Scalar {
    fn of(cell: Cell<'_>) -> Self {
        match cell {
            Cell::Absent => Self::Absent,
            Cell::Boolean(truth) => Self::Boolean(truth),
            Cell::Int(int) => Self::Int(int),
            Cell::Uint(uint) => Self::Uint(uint),
            Cell::Real(real) => Self::Real(real),
            Cell::Text(text) => Self::Text(text.to_owned()),
        }
    }

    fn cell(&self) -> Cell<'_> {
        match self {
            Self::Absent => Cell::Absent,
            Self::Boolean(truth) => Cell::Boolean(*truth),
            Self::Int(int) => Cell::Int(*int),
            Self::Uint(uint) => Cell::Uint(*uint),
            Self::Real(real) => Cell::Real(*real),
            Self::Text(text) => Cell::Text(text),
        }
    }
}
