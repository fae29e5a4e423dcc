//! The metric of each column, by its Arrow type.

use crate::{
    arrow::schema::has_values,
    input::{FreeNames, split_unit, unit_of},
};
use arrow_schema::{DataType, Field, TimeUnit};
use oasis_wire::schema::{EnumType, Metric, MetricType, ProbeType, StructType};

/// Deepest nesting of structs and lists.
const MAX_DEPTH: usize = 8;

/// The way from the values of a column to those of a metric.
#[derive(Debug, Clone)]
pub enum Plan {
    /// A value of the metric's type.
    Value,
    /// The name of an enumerator.
    Enum(EnumType),
    /// The column and the plan of each member; `None` for one without values.
    Struct(Vec<Option<(usize, Plan)>>),
    /// The plan of the elements.
    List(Box<Plan>),
}

/// A metric and its column.
#[derive(Debug, Clone)]
pub struct Planned {
    pub metric: Metric,
    /// `None` for a metric without values.
    pub column: Option<(usize, Plan)>,
}

/// A column without a metric.
#[derive(Debug, Clone)]
pub struct Unsupported {
    pub name: String,
    pub kind: String,
}

/// Plans the columns of another program.
pub fn foreign(field: &Field, at: usize, unsupported: &mut Vec<Unsupported>) -> Option<Planned> {
    let (metric, plan) = planned(field, field.name(), 0, unsupported)?;
    Some(Planned { metric, column: Some((at, plan)) })
}

/// Names each metric once: of `speed` and `speed [m/s]`, the second becomes `speed_2`. Returns the old and the new names.
pub fn name_once<'a>(metrics: impl Iterator<Item = &'a mut Metric>) -> Vec<(String, String)> {
    let mut free = FreeNames::default();
    let mut renamed = Vec::new();
    for metric in metrics {
        let name = free.take(&metric.name);
        if name != metric.name {
            renamed.push((std::mem::replace(&mut metric.name, name.clone()), name));
        }
    }
    renamed
}

fn planned(
    field: &Field,
    path: &str,
    depth: usize,
    unsupported: &mut Vec<Unsupported>,
) -> Option<(Metric, Plan)> {
    let (name, unit) = split_unit(field.name());
    let (kind, plan) = kind_of(field.data_type(), path, depth, unsupported)?;
    let stated = field.metadata().get("unit").and_then(|unit| unit_of(unit));
    let mut metric = Metric::new(name, kind);
    metric.unit = stated.or(unit).or_else(|| time_unit(field.data_type()).map(str::to_owned));
    metric.doc = field.metadata().get("doc").cloned();
    Some((metric, plan))
}

fn kind_of(
    of: &DataType,
    path: &str,
    depth: usize,
    unsupported: &mut Vec<Unsupported>,
) -> Option<(MetricType, Plan)> {
    let kind = match of {
        DataType::Int8 => MetricType::Int8,
        DataType::Int16 => MetricType::Int16,
        DataType::Int32 | DataType::Date32 | DataType::Time32(_) => MetricType::Int32,
        DataType::Int64
        | DataType::Date64
        | DataType::Time64(_)
        | DataType::Timestamp(..)
        | DataType::Duration(_) => MetricType::Int64,
        DataType::UInt8 => MetricType::Uint8,
        DataType::UInt16 => MetricType::Uint16,
        DataType::UInt32 => MetricType::Uint32,
        DataType::UInt64 => MetricType::Uint64,
        DataType::Float16 | DataType::Float32 => MetricType::Real32,
        DataType::Float64 | DataType::Decimal128(..) => MetricType::Real64,
        DataType::Boolean => MetricType::Boolean,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => MetricType::String,
        DataType::Dictionary(_, values)
            if !values.is_nested() && !matches!(**values, DataType::Boolean | DataType::Dictionary(..)) =>
        {
            return kind_of(values, path, depth, unsupported).map(|(kind, _)| (kind, Plan::Value));
        }
        DataType::List(field) | DataType::LargeList(field) | DataType::FixedSizeList(field, _)
            if depth < MAX_DEPTH =>
        {
            let (element, plan) = kind_of(field.data_type(), &format!("{path}[]"), depth + 1, unsupported)?;
            return Some((MetricType::Vector(Box::new(element)), Plan::List(Box::new(plan))));
        }
        DataType::Struct(fields) if depth < MAX_DEPTH => {
            let mut members = Vec::new();
            let mut plans = Vec::new();
            for (at, field) in fields.iter().enumerate() {
                let path = format!("{path}.{}", field.name());
                if let Some((metric, plan)) = planned(field, &path, depth + 1, unsupported) {
                    members.push(metric);
                    plans.push(Some((at, plan)));
                }
            }
            name_once(members.iter_mut());
            // A struct without members is reported like a type without values.
            if !members.is_empty() {
                let kind = StructType { name: path.to_owned(), members };
                return Some((MetricType::Struct(kind), Plan::Struct(plans)));
            }
            unsupported.push(Unsupported { name: path.to_owned(), kind: "a struct without values".into() });
            return None;
        }
        other => {
            unsupported.push(Unsupported { name: path.to_owned(), kind: other.to_string() });
            return None;
        }
    };
    Some((kind, Plan::Value))
}

/// The unit of times that are values.
fn time_unit(of: &DataType) -> Option<&'static str> {
    Some(match of {
        DataType::Date32 => "d",
        DataType::Date64 => "ms",
        DataType::Timestamp(unit, _)
        | DataType::Duration(unit)
        | DataType::Time32(unit)
        | DataType::Time64(unit) => match unit {
            TimeUnit::Second => "s",
            TimeUnit::Millisecond => "ms",
            TimeUnit::Microsecond => "us",
            TimeUnit::Nanosecond => "ns",
        },
        _ => return None,
    })
}

/// Plans the columns of an export, which begin at `first`.
pub fn export(probe_type: &ProbeType, first: usize) -> Vec<Planned> {
    let mut at = first;
    let metrics = probe_type.metrics.iter();
    metrics.map(|metric| Planned { metric: metric.clone(), column: exported(metric, &mut at) }).collect()
}

fn exported(metric: &Metric, at: &mut usize) -> Option<(usize, Plan)> {
    let plan = has_values(&metric.kind).then(|| plan_of(&metric.kind, metric.enumeration.as_ref()))?;
    *at += 1;
    Some((*at - 1, plan))
}

fn plan_of(kind: &MetricType, enumeration: Option<&EnumType>) -> Plan {
    match (kind, enumeration) {
        (MetricType::Vector(of), _) => Plan::List(Box::new(plan_of(of, enumeration))),
        (MetricType::Struct(of), _) => {
            let mut at = 0;
            Plan::Struct(of.members.iter().map(|member| exported(member, &mut at)).collect())
        }
        (integer, Some(of)) if integer.is_integer() => Plan::Enum(of.clone()),
        _ => Plan::Value,
    }
}
