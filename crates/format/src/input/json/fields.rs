//! Fields whose values a sample does not have as the message had them: counts for the report, and the names of absent columns.

use super::{
    shape::{Unstored, WhyUnstored},
    values::{AbsentValue, Differences, Step, field_name},
};
use crate::table::{ABSENT, Table};
use oasis_wire::{
    schema::{Metric, ProbeType},
    value::Value,
};
use std::{
    collections::{BTreeMap, HashMap},
    fmt,
};

/// A field of a channel whose values differ from those of the messages, or that messages do not always have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldReport {
    /// The channel's topic.
    pub topic: String,
    /// The field's name, those of objects around it in front; elements of lists are `name[]`.
    pub field: String,
    /// Number of values.
    pub values: u64,
    /// The difference.
    pub difference: FieldDifference,
}

/// The difference between the values of a field and of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldDifference {
    /// A real that is absent or null. The sample has NaN.
    AbsentReal,
    /// Absent or null. The sample has a placeholder, and names it in the metric [`ABSENT`].
    Absent,
    /// Absent or null, in an export of OASIS. The sample has a placeholder.
    Replaced,
    /// A whole number that a real does not represent exactly.
    Rounded,
    /// Not stored.
    Unstored(WhyUnstored),
}

impl FieldDifference {
    /// Whether the sample does not say what the message said.
    pub fn is_loss(self) -> bool {
        match self {
            Self::AbsentReal | Self::Absent => false,
            Self::Replaced | Self::Rounded | Self::Unstored(_) => true,
        }
    }
}

impl fmt::Display for FieldReport {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { topic, field, values, difference } = self;
        write!(to, "{topic}: {field}: ")?;
        match difference {
            FieldDifference::AbsentReal => write!(to, "{values} values absent or null, stored as NaN"),
            FieldDifference::Absent => write!(to, "{values} values absent or null, named in {ABSENT}"),
            FieldDifference::Replaced => {
                write!(to, "{values} values absent or null, stored as 0, false or empty")
            }
            FieldDifference::Rounded => write!(to, "{values} whole numbers rounded to 64-bit reals"),
            FieldDifference::Unstored(why) => write!(to, "{values} values skipped: {why}"),
        }
    }
}

/// Counts of a channel, by field.
#[derive(Debug, Default)]
pub struct FieldCounts(BTreeMap<Vec<Step>, Counts>);

#[derive(Debug, Default)]
struct Counts {
    absent_reals: u64,
    absent: u64,
    rounded: u64,
}

impl FieldCounts {
    /// Adds the differences of a message.
    pub fn add(&mut self, differences: &Differences) {
        for AbsentValue { place, is_nan } in &differences.absent {
            let counts = self.of(place);
            *(if *is_nan { &mut counts.absent_reals } else { &mut counts.absent }) += 1;
        }
        differences.rounded.iter().for_each(|place| self.of(place).rounded += 1);
    }

    /// Elements of a list count together.
    fn of(&mut self, place: &[Step]) -> &mut Counts {
        let together = |step: &Step| match step {
            Step::Element(_) => Step::Element(0),
            member @ Step::Member(_) => *member,
        };
        self.0.entry(place.iter().map(together).collect()).or_default()
    }

    /// Reports the fields of a channel whose samples have this type.
    pub fn report(&self, topic: &str, probe_type: &ProbeType) -> Vec<FieldReport> {
        let has_names = has_absent(probe_type);
        let absent = if has_names { FieldDifference::Absent } else { FieldDifference::Replaced };
        let mut reports = Vec::new();
        for (place, counts) in &self.0 {
            let field = field_name(&probe_type.metrics, place, false);
            let of = [
                (FieldDifference::AbsentReal, counts.absent_reals),
                (absent, counts.absent),
                (FieldDifference::Rounded, counts.rounded),
            ];
            let of = of.into_iter().filter(|(_, values)| *values > 0);
            reports.extend(of.map(|(difference, values)| FieldReport {
                topic: topic.to_owned(),
                field: field.clone(),
                values,
                difference,
            }));
        }
        reports
    }
}

/// Reports a field without a metric.
pub fn unstored(topic: &str, field: Unstored) -> FieldReport {
    let Unstored { field, values, why } = field;
    FieldReport { topic: topic.to_owned(), field, values, difference: FieldDifference::Unstored(why) }
}

/// A field of another program's messages whose column has another name: that of a built-in column, or of another field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenamedColumn {
    /// The channel's topic.
    pub topic: String,
    /// The field's name.
    pub field: String,
    /// The name of its column.
    pub column: String,
}

impl fmt::Display for RenamedColumn {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { topic, field, column } = self;
        write!(to, "{topic}: {field}: is the column {column:?}: another column has its name")
    }
}

/// The columns of a channel's samples that have another name than their field.
pub fn renamed_columns(topic: &str, probe_type: &ProbeType) -> Vec<RenamedColumn> {
    let mut renamed = Vec::new();
    for column in Table::new(probe_type).columns {
        let place: Vec<_> = column.path().iter().copied().map(Step::Member).collect();
        let field = field_name(&probe_type.metrics, &place, false);
        if field != column.name {
            renamed.push(RenamedColumn { topic: topic.to_owned(), field, column: column.name });
        }
    }
    renamed
}

fn has_absent(probe_type: &ProbeType) -> bool {
    probe_type.metrics.last().is_some_and(|metric| metric.name == ABSENT)
}

/// The names of a type's columns, for samples that lack some.
#[derive(Debug, Clone, PartialEq)]
pub struct AbsentColumns(HashMap<Vec<Step>, String>);

impl AbsentColumns {
    /// `None` if all messages have all values that cannot be NaN.
    pub fn new(probe_type: &ProbeType) -> Option<Self> {
        if !has_absent(probe_type) {
            return None;
        }
        let columns = Table::new(probe_type).columns.into_iter();
        let named =
            columns.map(|column| (column.path().iter().copied().map(Step::Member).collect(), column.name));
        Some(Self(named.collect()))
    }

    /// The value of the metric [`ABSENT`]: columns, and elements of columns such as `a[2]`.
    pub fn value(&self, metrics: &[Metric], absent: &[AbsentValue]) -> Value {
        let names = absent.iter().filter(|value| !value.is_nan).map(|value| self.name(metrics, &value.place));
        Value::Vector(names.map(Value::String).collect())
    }

    /// The name of a value: of a column, or of an element such as `a[2]`.
    pub fn name(&self, metrics: &[Metric], place: &[Step]) -> String {
        let is_element = |step: &Step| matches!(step, Step::Element(_));
        let (column, _) = place.split_at(place.iter().position(is_element).unwrap_or(place.len()));
        let full = field_name(metrics, place, true);
        let within = full.strip_prefix(&field_name(metrics, column, true)).unwrap_or_default();
        match self.0.get(column) {
            Some(name) => format!("{name}{within}"),
            None => full,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        input::infer,
        input::json::{shape::Shape, values as json},
    };
    use serde_json::json;

    #[test]
    fn absent_columns_have_the_names_of_the_table() {
        let messages = [
            json!({"time": true, "p": {"time": "a"}, "rows": [{"on": true}, {}], "Time": "b"}),
            json!({"p": {}, "rows": null}),
        ];
        let mut shape = Shape::object();
        for message in &messages {
            shape.add_message(message);
        }
        let probe_type = infer::described("A", shape.typing().metrics);
        let columns = AbsentColumns::new(&probe_type).unwrap();
        let (_, metrics) = probe_type.metrics.split_last().unwrap();
        let names = messages
            .each_ref()
            .map(|message| columns.value(metrics, &json::sample(metrics, b"", message).unwrap().1.absent));
        let texts =
            |names: &[&str]| Value::Vector(names.iter().map(|name| Value::String((*name).into())).collect());
        assert_eq!(names, [texts(&["rows[1].on"]), texts(&["time_2", "p.time", "rows", "Time_3"])]);
    }

    #[test]
    fn reports_count_values_by_field() {
        let mut counts = FieldCounts::default();
        let metrics = [Metric::new("n", oasis_wire::schema::MetricType::Int64)];
        let probe_type = infer::described("A", metrics.to_vec());
        for message in [json!({"n": 1}), json!({}), json!({"n": null})] {
            counts.add(&json::sample(&metrics, b"", &message).unwrap().1);
        }
        let said: Vec<_> = counts.report("/a", &probe_type).iter().map(ToString::to_string).collect();
        assert_eq!(said, ["/a: n: 2 values absent or null, stored as 0, false or empty"]);
    }
}
