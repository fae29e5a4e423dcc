//! Cells of roll-ups as samples: the probe type of a level, derived from the type of the samples.
//!
//! A cell is a sample of that type, taken at the time of the last sample in it. `docs/reference/archive-files.md` lists its metrics.

use super::{
    cell::{Cell, Track},
    leaves::Leaf,
    level::Level,
    number::Number,
    summary::Summary,
};
use oasis_wire::{
    batch::{Batch, Values},
    schema::{Behavior, MAX_MEMBERS, Metric, MetricType, ProbeType},
    value::Value,
};

/// Name of the sample count; no metric can have it.
const SAMPLES: &str = "rollup.samples";

/// Metrics of a cell for one leaf, at most.
const MAX_LEAF_COLUMNS: usize = 7;

/// The first leaves, as many as a valid type of cells has room for.
pub fn fitting(leaves: &[Leaf]) -> &[Leaf] {
    &leaves[..leaves.len().min((MAX_MEMBERS - 1) / MAX_LEAF_COLUMNS)]
}

/// The type of the cells of samples of this type.
pub fn rolled(probe_type: &ProbeType, leaves: &[Leaf], level: Level) -> ProbeType {
    let mut metrics = vec![Metric::new(SAMPLES, MetricType::Uint64)];
    leaves.iter().for_each(|leaf| columns_of(leaf, &mut metrics));
    let name = format!("{}.{}", probe_type.name, level.word());
    let uuid = uuid::Uuid::new_v5(&probe_type.uuid, level.word().as_bytes());
    ProbeType { name, uuid, version: probe_type.version.clone(), doc: None, rate: None, metrics }
}

fn columns_of(leaf: &Leaf, metrics: &mut Vec<Metric>) {
    let mut put = |suffix: &str, kind: &MetricType| {
        let kind =
            if leaf.has_elements() { MetricType::Vector(Box::new(kind.clone())) } else { kind.clone() };
        metrics.push(Metric::new(format!("{}{suffix}", leaf.name), kind));
    };
    if leaf.is_text() {
        return put("", &leaf.kind);
    }
    put(".min", &leaf.kind);
    put(".max", &leaf.kind);
    put(".mean", &MetricType::Real64);
    put(".numbers", &MetricType::Uint64);
    if leaf.is_counter {
        put(".first", &leaf.kind);
        put(".increase", if is_real(&leaf.kind) { &MetricType::Real64 } else { &MetricType::Uint64 });
    }
    put("", &leaf.kind);
    if leaf.is_counter
        && let Some(last) = metrics.last_mut()
    {
        last.behavior = Some(Behavior::Counter);
    }
}

fn is_real(kind: &MetricType) -> bool {
    matches!(kind, MetricType::Real32 | MetricType::Real64)
}

/// Encodes a cell as the values of a sample.
pub fn values(cell: &Cell, leaves: &[Leaf]) -> Vec<Value> {
    let mut values = vec![Value::Uint(cell.samples)];
    for (place, leaf) in leaves.iter().enumerate() {
        let track = cell.tracks.get(place).unwrap_or(&Track::Nothing);
        if leaf.is_text() {
            let text = if let Track::Text(text) = track { text.clone() } else { String::new() };
            values.push(Value::String(text));
        } else if leaf.has_elements() {
            let elements = if let Track::Elements(elements) = track { elements.as_slice() } else { &[] };
            let rows: Vec<_> = elements.iter().map(|element| fields(leaf, element.as_ref())).collect();
            let column = |at: usize| Value::Vector(rows.iter().map(|row| row[at].clone()).collect());
            let width = fields(leaf, None).len();
            values.extend((0..width).map(column));
        } else {
            let summary = if let Track::Number(summary) = track { Some(summary) } else { None };
            values.extend(fields(leaf, summary));
        }
    }
    values
}

/// Values in the order of [`columns_of`]. Without a value all of them are 0.
fn fields(leaf: &Leaf, summary: Option<&Summary>) -> Vec<Value> {
    let zero = zero(&leaf.kind);
    let value = |of: fn(&Summary) -> Number| {
        summary.map_or_else(|| zero.clone(), |summary| value(of(summary), &leaf.kind))
    };
    let mean = summary.filter(|summary| summary.numbers > 0).map_or(0.0, Summary::mean);
    let mut fields = vec![
        value(|summary| summary.min),
        value(|summary| summary.max),
        Value::Real64(mean),
        Value::Uint(summary.map_or(0, |summary| summary.numbers)),
    ];
    if leaf.is_counter {
        fields.push(value(|summary| summary.first));
        let increase = summary.and_then(|summary| summary.increase);
        fields.push(match increase {
            Some(increase) if is_real(&leaf.kind) => Value::Real64(increase.real()),
            Some(Number::Uint(increase)) => Value::Uint(increase),
            _ if is_real(&leaf.kind) => Value::Real64(0.0),
            _ => Value::Uint(0),
        });
    }
    fields.push(value(|summary| summary.last));
    fields
}

fn zero(kind: &MetricType) -> Value {
    value(Number::Uint(0), kind)
}

fn value(number: Number, kind: &MetricType) -> Value {
    match (number, kind) {
        (number, MetricType::Boolean) => Value::Boolean(number.real() != 0.0),
        (Number::Real32(value), MetricType::Real32) => Value::Real32(value),
        (number, MetricType::Real32) => Value::Real32(number.real() as f32),
        (number, MetricType::Real64) => Value::Real64(number.real()),
        (
            Number::Uint(value),
            MetricType::Int8 | MetricType::Int16 | MetricType::Int32 | MetricType::Int64,
        ) => Value::Int(i64::try_from(value).unwrap_or(i64::MAX)),
        (Number::Uint(value), _) => Value::Uint(value),
        (Number::Int(value), _) => Value::Int(value),
        (Number::Real32(_) | Number::Real64(_), _) => Value::Uint(0),
    }
}

/// The columns of each leaf in the type of a level.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    leaves: Vec<(Leaf, Columns)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Columns {
    Text(usize),
    Number { first: usize, is_counter: bool },
}

impl Plan {
    /// Creates the plan of a type from [`rolled`]; `None` for another type.
    pub fn of(probe_type: &ProbeType) -> Option<Self> {
        let metrics = &probe_type.metrics;
        if metrics.first()?.name != SAMPLES {
            return None;
        }
        let (mut leaves, mut at) = (Vec::new(), 1);
        while let Some(metric) = metrics.get(at) {
            let is_text = |kind: &MetricType| match kind.element() {
                Some(element) => *element == MetricType::String,
                None => *kind == MetricType::String,
            };
            if is_text(&metric.kind) {
                leaves.push((Leaf::named(&metric.name, MetricType::String, false), Columns::Text(at)));
                at += 1;
                continue;
            }
            let name = metric.name.strip_suffix(".min")?;
            let kind = metric.kind.element().unwrap_or(&metric.kind).clone();
            let is_counter = metrics.get(at + 4).is_some_and(|metric| metric.name == format!("{name}.first"));
            leaves.push((Leaf::named(name, kind, is_counter), Columns::Number { first: at, is_counter }));
            at += if is_counter { 7 } else { 5 };
        }
        Some(Self { leaves })
    }

    /// The leaves of the cells.
    pub fn leaves(&self) -> impl Iterator<Item = &Leaf> {
        self.leaves.iter().map(|(leaf, _)| leaf)
    }

    /// Decodes one cell of a batch.
    pub fn cell(&self, batch: &Batch, index: usize) -> Cell {
        let samples = match batch.values(0) {
            Some(Values::Fixed(samples)) => samples[index],
            _ => 0,
        };
        let track = |(leaf, columns): &(Leaf, Columns)| self.track(leaf, *columns, batch, index);
        Cell { samples, last_time: batch.times()[index], tracks: self.leaves.iter().map(track).collect() }
    }

    fn track(&self, leaf: &Leaf, columns: Columns, batch: &Batch, index: usize) -> Track {
        match columns {
            Columns::Text(at) => match batch.values(at) {
                Some(Values::Rows(rows)) => match &rows[index] {
                    Value::String(text) => Track::Text(text.clone()),
                    _ => Track::Nothing,
                },
                _ => Track::Nothing,
            },
            Columns::Number { first, is_counter } => {
                let number =
                    |column: usize, kind: &MetricType, element: usize| match batch.values(first + column)? {
                        Values::Fixed(values) => Some(Number::from_bits(values[index], kind)),
                        Values::Rows(rows) => match &rows[index] {
                            Value::Vector(elements) => Leaf::number(elements.get(element)?),
                            _ => None,
                        },
                    };
                let summary =
                    |element: usize| summary(leaf, is_counter, |column, kind| number(column, kind, element));
                if !leaf.has_elements() {
                    return summary(0).map_or(Track::Nothing, Track::Number);
                }
                let elements = match batch.values(first) {
                    Some(Values::Rows(rows)) => match &rows[index] {
                        Value::Vector(elements) => elements.len(),
                        _ => 0,
                    },
                    _ => 0,
                };
                Track::Elements(
                    (0..elements).map(|element| summary(element).filter(|some| some.numbers > 0)).collect(),
                )
            }
        }
    }
}

fn summary(
    leaf: &Leaf,
    is_counter: bool,
    field: impl Fn(usize, &MetricType) -> Option<Number>,
) -> Option<Summary> {
    let (min, max) = (field(0, &leaf.kind)?, field(1, &leaf.kind)?);
    let mean = field(2, &MetricType::Real64)?.real();
    let Number::Uint(numbers) = field(3, &MetricType::Uint64)? else { return None };
    let counted = if is_real(&leaf.kind) { MetricType::Real64 } else { MetricType::Uint64 };
    let (first, increase) =
        if is_counter { (field(4, &leaf.kind)?, Some(field(5, &counted)?)) } else { (min, None) };
    let last = field(if is_counter { 6 } else { 4 }, &leaf.kind)?;
    Some(Summary { numbers, min, max, sum: mean * numbers as f64, first, last, increase })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::Cells;
    use oasis_wire::{
        batch::{Encoder, Fields},
        schema::ABSENT,
        value::write_row,
    };
    use proptest::prelude::*;
    use std::sync::Arc;

    fn nested() -> ProbeType {
        serde_json::from_str(
            r#"{"name": "T", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11", "version": "1.0", "metrics": [
            {"name": "total", "type": "uint64", "kind": "counter"}, {"name": "balance", "type": "int64"}, {"name": "on", "type": "boolean"},
            {"name": "load", "type": "real32"}, {"name": "word", "type": "string"}, {"name": "loads", "type": {"vector": "real64"}},
            {"name": "pose", "type": {"struct": {"name": "P", "members": [{"name": "x", "type": "int8"}, {"name": "min", "type": "real64", "kind": "counter"}]}}},
            {"name": "axes", "type": {"vector": {"struct": {"name": "A", "members": [{"name": "turns", "type": "uint32", "kind": "counter"}]}}}},
            {"name": "matrix", "type": {"vector": {"vector": "int16"}}}]}"#,
        )
        .unwrap()
    }

    prop_compose! {
        fn sample()(
            total in any::<u64>(), balance in any::<i64>(), on in any::<bool>(), load in prop_oneof![5 => -9.0..9.0_f32, 1 => Just(f32::NAN)],
            word in "[a-c]{0,3}", loads in proptest::collection::vec(-9.0..9.0_f64, 0..4), x in any::<i8>(), min in 0.0..9.0_f64,
            axes in proptest::collection::vec(any::<u32>(), 0..4),
            matrix in proptest::collection::vec(proptest::collection::vec(any::<i16>(), 0..3), 0..3),
        ) -> Vec<Value> {
            let axis = |turns: u32| Value::Struct(vec![Value::Uint(turns.into())]);
            let row = |row: Vec<i16>| Value::Vector(row.into_iter().map(|n| Value::Int(n.into())).collect());
            vec![
                Value::Uint(total), Value::Int(balance), Value::Boolean(on), Value::Real32(load), Value::String(word),
                Value::Vector(loads.into_iter().map(Value::Real64).collect()),
                Value::Struct(vec![Value::Int(x.into()), Value::Real64(min)]),
                Value::Vector(axes.into_iter().map(axis).collect()),
                Value::Vector(matrix.into_iter().map(row).collect()),
            ]
        }
    }

    fn batch_of(probe_type: &ProbeType, samples: &[(u64, Vec<Value>)]) -> Vec<u8> {
        let mut encoder = Encoder::new(probe_type).unwrap();
        for (time, values) in samples {
            let mut row = Vec::new();
            write_row(probe_type, values, &mut row);
            encoder.push(*time, &row).unwrap();
        }
        let mut batch = Vec::new();
        encoder.finish(Fields { first_sequence: 1, ..Fields::default() }, &mut batch);
        batch
    }

    #[test]
    fn placeholders_of_absent_values_are_in_no_cell() {
        let mut probe_type = nested();
        probe_type.metrics.push(Metric::new(ABSENT, MetricType::Vector(Box::new(MetricType::String))));
        let names =
            |names: &[&str]| Value::Vector(names.iter().map(|name| Value::String((*name).into())).collect());
        let sample = |balance: i64, loads: &[f64], x: i64, absent: &[&str]| {
            vec![
                Value::Uint(7),
                Value::Int(balance),
                Value::Boolean(true),
                Value::Real32(0.5),
                Value::String("a".into()),
                Value::Vector(loads.iter().map(|load| Value::Real64(*load)).collect()),
                Value::Struct(vec![Value::Int(x), Value::Real64(1.0)]),
                Value::Vector(Vec::new()),
                Value::Vector(Vec::new()),
                names(absent),
            ]
        };
        let samples = [
            (1, sample(5, &[1.0, 0.0], 3, &["loads[1]", "word"])),
            (2, sample(0, &[2.0, 4.0], 0, &["balance", "balance", "pose"])),
            (3, sample(9, &[3.0, 6.0], 4, &["none"])),
        ];
        let batch = batch_of(&probe_type, &samples);
        let mut cells = Cells::new(1_000, 0..u64::MAX);
        cells.add_batch(&Arc::new(probe_type), &batch, 0, &mut |_| {}).unwrap();
        let leaves: Vec<_> = cells.leaves().iter().map(|leaf| leaf.name.clone()).collect();
        let (_, cell) = cells.cells().next().unwrap();
        let track = |name: &str| &cell.tracks[leaves.iter().position(|leaf| leaf == name).unwrap()];
        let figures = |summary: Summary| (summary.numbers, summary.min.real(), summary.max.real());
        let number = |name: &str| match track(name) {
            Track::Number(summary) => figures(*summary),
            other => panic!("{other:?}"),
        };
        assert_eq!(cell.samples, 3);
        assert_eq!(
            (number("balance"), number("pose.x"), number("load")),
            ((2, 5.0, 9.0), (2, 3.0, 4.0), (3, 0.5, 0.5))
        );
        let Track::Elements(loads) = track("loads[]") else { panic!("elements") };
        let loads: Vec<_> = loads.iter().flatten().copied().map(figures).collect();
        assert_eq!(loads, [(3, 1.0, 3.0), (2, 4.0, 6.0)]);
    }

    fn summaries(cell: &mut Cell) -> impl Iterator<Item = &mut Summary> {
        cell.tracks.iter_mut().flat_map(|track| match track {
            Track::Number(summary) => vec![summary],
            Track::Elements(elements) => elements.iter_mut().flatten().collect(),
            Track::Text(_) | Track::Nothing => vec![],
        })
    }

    /// Cells as text, because NaN equals nothing, and sums of reals, which depend on their order.
    fn shown(cells: &Cells) -> (String, Vec<f64>) {
        let (mut text, mut sums) = (String::new(), Vec::new());
        for (number, cell) in cells.cells() {
            let mut cell = cell.clone();
            for summary in summaries(&mut cell) {
                // Relative to its bound.
                let greatest = summary.min.real().abs().max(summary.max.real().abs());
                let share = std::mem::take(&mut summary.sum) / (greatest * summary.numbers as f64);
                sums.push(if share.is_finite() { share } else { 0.0 });
                match &mut summary.increase {
                    Some(Number::Real64(counted)) => sums.push(std::mem::take(counted)),
                    Some(_) => {}
                    // Only counters have a first value.
                    None => summary.first = summary.min,
                }
            }
            text += &format!("{number}: {cell:?}\n");
        }
        (text, sums)
    }

    proptest! {
        #[test]
        fn cells_of_nested_samples_read_back_and_add_up(
            samples in proptest::collection::vec((0..3_000_000_000_u64, sample()), 1..40), step in prop_oneof![Just(1_000_000_000_u64), Just(60_000_000_000)],
            cut in any::<prop::sample::Index>(),
        ) {
            let mut samples = samples;
            samples.sort_by_key(|(time, _)| *time);
            let probe_type = Arc::new(nested());
            let second = Level::Second.width();
            let mut made = Cells::new(second, 0..u64::MAX);
            let mut read = Cells::new(step, 0..u64::MAX);
            // At any place where cells are written.
            let (before, after) = samples.split_at(cut.index(samples.len()));
            for part in [before, after].into_iter().filter(|part| !part.is_empty()) {
                made.add_batch(&probe_type, &batch_of(&probe_type, part), 0, &mut |_| {}).unwrap();
                let cells = made.take();
                let cell_type = Arc::new(rolled(&probe_type, cells.leaves(), Level::Second));
                cell_type.validate().unwrap();
                let plan = Plan::of(&cell_type).unwrap();
                let rows: Vec<_> = cells.cells().map(|(_, cell)| (cell.last_time, values(cell, cells.leaves()))).collect();
                read.add_rolled(&plan, &cell_type, &Batch::parse(&batch_of(&cell_type, &rows), &cell_type).unwrap());
            }
            let mut whole = Cells::new(step, 0..u64::MAX);
            whole.add_batch(&probe_type, &batch_of(&probe_type, &samples), 0, &mut |_| {}).unwrap();
            let ((read, sums), (whole, expected)) = (shown(&read), shown(&whole));
            prop_assert_eq!(read, whole);
            prop_assert!(sums.iter().zip(&expected).all(|(sum, expected)| (sum - expected).abs() < 1e-9), "{sums:?} {expected:?}");
        }
    }

    #[test]
    fn another_type_is_no_rollup() {
        assert_eq!(Plan::of(&nested()), None);
    }
}
