//! Types of instances: that of each kind of metric, and those of log records and spans.

use oasis_format::input::described;
use oasis_wire::schema::{Behavior, EnumType, Enumerator, Metric, MetricType, ProbeType, StructType};
use std::sync::Arc;

/// Most bytes of a unit: OpenTelemetry permits 63.
const MAX_UNIT_BYTES: usize = 63;
/// Most characters of a description.
const MAX_DESCRIPTION_CHARACTERS: usize = 1_000;

/// The form of a metric's samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    Gauge {
        is_real: bool,
    },
    /// A counter is monotonic and cumulative.
    Sum {
        is_real: bool,
        is_counter: bool,
    },
    Histogram,
    ExponentialHistogram,
    Summary,
}

/// A type as a sender describes it.
#[derive(Debug)]
pub struct DescribedType {
    pub shape: Shape,
    pub unit: String,
    pub probe_type: Arc<ProbeType>,
}

impl DescribedType {
    /// Makes the type of a metric.
    pub fn new(name: &str, description: &str, unit: &str, shape: Shape) -> Self {
        let doc: String = description.chars().take(MAX_DESCRIPTION_CHARACTERS).collect();
        let describe =
            |metric: Metric| Metric { doc: Some(doc.clone()).filter(|doc| !doc.is_empty()), ..metric };
        let of_unit = Some(unit.to_owned()).filter(|unit| is_unit(unit));
        let metrics = match shape {
            Shape::Gauge { is_real } => vec![describe(number(is_real, Behavior::Gauge, of_unit))],
            Shape::Sum { is_real, is_counter } => {
                let behavior = if is_counter { Behavior::Counter } else { Behavior::Gauge };
                with_start(describe(number(is_real, behavior, of_unit)), true)
            }
            Shape::Histogram => {
                with_start(describe(structure("histogram", "Histogram", histogram(&of_unit))), true)
            }
            Shape::ExponentialHistogram => {
                let members = exponential_histogram(&of_unit);
                with_start(describe(structure("histogram", "ExponentialHistogram", members)), true)
            }
            Shape::Summary => with_start(describe(structure("summary", "Summary", summary(&of_unit))), false),
        };
        Self { shape, unit: unit.to_owned(), probe_type: Arc::new(described(name, metrics)) }
    }
}

fn is_unit(unit: &str) -> bool {
    !unit.is_empty() && unit.len() <= MAX_UNIT_BYTES && !unit.chars().any(char::is_control)
}

fn number(is_real: bool, behavior: Behavior, unit: Option<String>) -> Metric {
    let kind = if is_real { MetricType::Real64 } else { MetricType::Int64 };
    Metric { behavior: Some(behavior), unit, ..Metric::new("value", kind) }
}

/// Adds the interval that a value is about.
fn with_start(value: Metric, has_temporality: bool) -> Vec<Metric> {
    let temporality = Metric {
        behavior: Some(Behavior::State),
        enumeration: Some(temporality()),
        ..Metric::new("temporality", MetricType::Uint8)
    };
    let start = Metric {
        doc: Some("When the interval of the value began, since 1970; 0 if unknown.".into()),
        unit: Some("ns".into()),
        ..Metric::new("start_time", MetricType::Uint64)
    };
    let reset = Metric {
        doc: Some(
            "Whether a cumulative value began anew since the sample before: its start is later.".into(),
        ),
        behavior: Some(Behavior::State),
        ..Metric::new("reset", MetricType::Boolean)
    };
    let temporality = Some(temporality).filter(|_| has_temporality);
    [Some(value), temporality, Some(start), Some(reset)].into_iter().flatten().collect()
}

fn temporality() -> EnumType {
    let values = ["UNSPECIFIED", "DELTA", "CUMULATIVE"];
    let value =
        |(value, name): (usize, &&str)| Enumerator { name: (*name).into(), value: value as i64, doc: None };
    EnumType {
        name: "OpenTelemetry::Temporality".into(),
        values: values.iter().enumerate().map(value).collect(),
    }
}

fn structure(name: &str, type_name: &str, members: Vec<Metric>) -> Metric {
    let name_of_type = format!("OpenTelemetry::{type_name}");
    Metric::new(name, MetricType::Struct(StructType { name: name_of_type, members }))
}

fn count(name: &str) -> Metric {
    Metric::new(name, MetricType::Uint64)
}

fn real(name: &str, unit: &Option<String>) -> Metric {
    Metric { unit: unit.clone(), ..Metric::new(name, MetricType::Real64) }
}

fn vector(name: &str, of: MetricType, unit: &Option<String>, doc: &str) -> Metric {
    let kind = MetricType::Vector(Box::new(of));
    Metric { unit: unit.clone(), doc: Some(doc.into()), ..Metric::new(name, kind) }
}

/// The members that all histograms begin with. An absent value is NaN.
fn totals(unit: &Option<String>) -> Vec<Metric> {
    vec![count("count"), real("sum", unit), real("min", unit), real("max", unit)]
}

fn histogram(unit: &Option<String>) -> Vec<Metric> {
    let bounds = "Upper bounds of the buckets, inclusive; the last bucket has none.";
    let mut members = totals(unit);
    members.push(vector("bounds", MetricType::Real64, unit, bounds));
    members.push(vector("counts", MetricType::Uint64, &None, "Values in each bucket: one more than bounds."));
    members
}

fn exponential_histogram(unit: &Option<String>) -> Vec<Metric> {
    let scale = "The bucket i has the values above base^i up to base^(i+1); the base is 2^(2^-scale).";
    let mut members = totals(unit);
    members.push(Metric { doc: Some(scale.into()), ..Metric::new("scale", MetricType::Int32) });
    members.push(count("zero_count"));
    members.push(real("zero_threshold", unit));
    for sign in ["positive", "negative"] {
        members.push(Metric::new(format!("{sign}_offset"), MetricType::Int32));
        let doc = format!("Values in the {sign} buckets from the offset on.");
        members.push(vector(&format!("{sign}_counts"), MetricType::Uint64, &None, &doc));
    }
    members
}

fn summary(unit: &Option<String>) -> Vec<Metric> {
    let members = vec![real("quantile", &None), real("value", unit)];
    let quantile = MetricType::Struct(StructType { name: "OpenTelemetry::Quantile".into(), members });
    vec![
        count("count"),
        real("sum", unit),
        vector("quantiles", quantile, &None, "Values at quantiles, 0 to 1."),
    ]
}
