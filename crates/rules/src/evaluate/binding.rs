//! Columns of an input in the batches of an instance.

use super::rows::{Rows, known};
use crate::program::{Column, Input};
use oasis_wire::{
    absence::{self, Absence},
    batch::{Batch, Values},
    schema::{Metric, MetricType, ProbeType},
    value::Value,
};
use std::ops::Range;

/// The columns of an input in batches of one probe type.
#[derive(Debug)]
pub struct Binding {
    columns: Vec<Result<ColumnPath, ()>>,
    /// Columns that this type does not have as the rules were compiled.
    lacking: Vec<String>,
    /// Present if samples of this type can lack values.
    absence: Option<Absence>,
}

/// A metric, and the members of structs that lead to the value.
#[derive(Debug)]
struct ColumnPath {
    metric: usize,
    members: Vec<usize>,
    kind: MetricType,
}

impl Binding {
    /// Finds the columns in a type, which can be another version of the one that the rules were compiled with. Values that it does not have are unknown.
    pub fn new(input: &Input, probe_type: &ProbeType) -> Self {
        let mut lacking = Vec::new();
        let columns = input.columns.iter().map(|column| {
            place(column, &probe_type.metrics).ok_or_else(|| lacking.push(column.path.join(".")))
        });
        let columns = columns.collect();
        Self { columns, lacking, absence: Absence::of(probe_type) }
    }

    /// The metrics that are unknown because the type does not have them.
    pub fn lacking(&self) -> &[String] {
        &self.lacking
    }

    /// Returns the samples of a batch; `missing` samples are lost before them.
    pub fn rows(&self, batch: &Batch, wanted: Range<usize>, missing: u64) -> Rows {
        let times = batch.times().get(wanted.clone()).unwrap_or_default().to_vec();
        let first = batch.header().first_sequence;
        let mut gaps = vec![0; times.len()];
        if let Some(before) = gaps.first_mut() {
            *before = missing;
        }
        let column = |place: &Result<ColumnPath, ()>| match place {
            Ok(place) => place.values(batch, wanted.clone()),
            Err(()) => vec![f64::NAN; times.len()],
        };
        let mut columns: Vec<_> = self.columns.iter().map(column).collect();
        if let Some(absence) = &self.absence {
            self.clear_absent(absence, batch, wanted.clone(), &mut columns);
        }
        Rows {
            sequences: wanted
                .clone()
                .map(|index| first.wrapping_add(index as u64))
                .take(times.len())
                .collect(),
            missing: gaps,
            columns,
            origins: (0..times.len()).collect(),
            times,
        }
    }

    /// Makes the values unknown that samples lack.
    fn clear_absent(&self, absence: &Absence, batch: &Batch, wanted: Range<usize>, columns: &mut [Vec<f64>]) {
        let Some(Values::Rows(named)) = batch.values(absence.metric()) else { return };
        for (row, named) in named.get(wanted).unwrap_or_default().iter().enumerate() {
            let absent = absence.places(named);
            let is_absent = |column: &ColumnPath| absence::contains(&absent, column.metric, &column.members);
            let of = self.columns.iter().zip(&mut *columns);
            let of = of.filter(|(column, _)| column.as_ref().is_ok_and(is_absent));
            of.filter_map(|(_, values)| values.get_mut(row)).for_each(|value| *value = f64::NAN);
        }
    }
}

fn place(column: &Column, metrics: &[Metric]) -> Option<ColumnPath> {
    let (first, rest) = column.path.split_first()?;
    let metric = metrics.iter().position(|metric| metric.name == *first)?;
    let mut found = &metrics[metric];
    let mut members = Vec::new();
    for name in rest {
        let MetricType::Struct(of) = &found.kind else { return None };
        let at = of.members.iter().position(|member| member.name == *name)?;
        members.push(at);
        found = of.members.get(at)?;
    }
    let enumerators = found.enumeration.iter().flat_map(|of| &of.values);
    let is_same_enum = enumerators
        .map(|one| (&*one.name, one.value))
        .eq(column.enumerators.iter().map(|(name, value)| (&**name, *value)));
    let is_same = found.unit == column.unit && is_same_enum;
    is_same.then(|| ColumnPath { metric, members, kind: found.kind.clone() })
}

impl ColumnPath {
    fn values(&self, batch: &Batch, wanted: Range<usize>) -> Vec<f64> {
        match batch.values(self.metric) {
            Some(Values::Fixed(bits)) => {
                bits.get(wanted).unwrap_or_default().iter().map(|bits| number(&self.kind, *bits)).collect()
            }
            Some(Values::Rows(values)) => {
                values.get(wanted).unwrap_or_default().iter().map(|value| self.member(value)).collect()
            }
            None => vec![f64::NAN; wanted.len()],
        }
    }

    fn member(&self, value: &Value) -> f64 {
        let mut found = value;
        for at in &self.members {
            let Value::Struct(members) = found else { return f64::NAN };
            let Some(member) = members.get(*at) else { return f64::NAN };
            found = member;
        }
        match found {
            Value::Int(value) => *value as f64,
            Value::Uint(value) => *value as f64,
            Value::Real32(value) => known(f64::from(*value)),
            Value::Real64(value) => known(*value),
            Value::Boolean(value) => f64::from(u8::from(*value)),
            Value::String(_) | Value::Vector(_) | Value::Struct(_) | Value::Blob(_) => f64::NAN,
        }
    }
}

/// The number of a value that was widened to 64 bits.
fn number(kind: &MetricType, bits: u64) -> f64 {
    match kind {
        MetricType::Int8 | MetricType::Int16 | MetricType::Int32 | MetricType::Int64 => bits as i64 as f64,
        MetricType::Uint8
        | MetricType::Uint16
        | MetricType::Uint32
        | MetricType::Uint64
        | MetricType::Boolean => bits as f64,
        MetricType::Real32 => known(f64::from(f32::from_bits(bits as u32))),
        MetricType::Real64 => known(f64::from_bits(bits)),
        MetricType::String | MetricType::Vector(_) | MetricType::Struct(_) | MetricType::Blob(_) => f64::NAN,
    }
}
