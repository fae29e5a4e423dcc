//! The Arrow schema of a probe type.

use crate::table::{FIXED, Names};
use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef, TimeUnit};
use oasis_wire::schema::{ABSENT, EnumType, Metric, MetricType, ProbeType};
use std::{collections::HashMap, sync::Arc};

/// The key of the probe type, as JSON: an import restores it.
pub(crate) const SCHEMA_KEY: &str = "oasis.schema";

/// Fixed columns, then one for each metric. Fields carry `unit` and `doc`, the schema `oasis.type`, `oasis.uuid`, `oasis.version`
/// and `oasis.schema`. Metrics can be null if samples of the type can lack values.
pub fn schema(probe_type: &ProbeType) -> SchemaRef {
    nullable_schema(probe_type, probe_type.absent_metric().is_some())
}

/// As [`schema`]; `is_nullable` says whether metrics can be null.
pub(crate) fn nullable_schema(probe_type: &ProbeType, is_nullable: bool) -> SchemaRef {
    let fixed = [
        ("node", dictionary()),
        ("instance", dictionary()),
        ("run", dictionary()),
        ("epoch", dictionary()),
        ("offset", DataType::UInt64),
        ("sequence", DataType::UInt64),
        ("time", DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into()))),
        ("state", DataType::UInt16),
    ];
    let mut fields: Vec<Field> =
        fixed.into_iter().map(|(name, kind)| Field::new(name, kind, false)).collect();
    let mut names = Names::new(FIXED);
    fields.extend(
        probe_type
            .metrics
            .iter()
            .filter(|metric| has_values(&metric.kind))
            .map(|metric| field(metric, is_nullable && metric.name != ABSENT, &mut names)),
    );
    let metadata = [
        ("oasis.type", probe_type.name.clone()),
        ("oasis.uuid", probe_type.uuid.to_string()),
        ("oasis.version", probe_type.version.clone()),
        (SCHEMA_KEY, serde_json::to_string(probe_type).unwrap_or_default()),
    ];
    let metadata: HashMap<_, _> = metadata.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    Arc::new(Schema::new_with_metadata(fields, metadata))
}

/// The type of texts with few distinct values.
fn dictionary() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

/// Whether a column would have values: Parquet has no structs without members.
pub(crate) fn has_values(kind: &MetricType) -> bool {
    match kind {
        MetricType::Struct(of) => of.members.iter().any(|member| has_values(&member.kind)),
        MetricType::Vector(element) => has_values(element),
        MetricType::Int8
        | MetricType::Int16
        | MetricType::Int32
        | MetricType::Int64
        | MetricType::Uint8
        | MetricType::Uint16
        | MetricType::Uint32
        | MetricType::Uint64
        | MetricType::Real32
        | MetricType::Real64
        | MetricType::Boolean
        | MetricType::String
        | MetricType::Blob(_) => true,
    }
}

fn field(metric: &Metric, is_nullable: bool, names: &mut Names) -> Field {
    let known = [("unit", &metric.unit), ("doc", &metric.doc)];
    let metadata: HashMap<_, _> =
        known.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value.clone()?))).collect();
    let kind = data_type(&metric.kind, metric.enumeration.as_ref(), is_nullable);
    Field::new(names.unique(&metric.name), kind, is_nullable).with_metadata(metadata)
}

/// The members of a struct that have values.
pub(crate) fn fields(members: &[Metric], is_nullable: bool) -> Fields {
    let mut names = Names::default();
    let with_values = members.iter().filter(|member| has_values(&member.kind));
    with_values.map(|member| field(member, is_nullable, &mut names)).collect()
}

/// The elements of a vector.
pub(crate) fn element(kind: &MetricType, enumeration: Option<&EnumType>, is_nullable: bool) -> Arc<Field> {
    Arc::new(Field::new("item", data_type(kind, enumeration, is_nullable), is_nullable))
}

fn data_type(kind: &MetricType, enumeration: Option<&EnumType>, is_nullable: bool) -> DataType {
    if enumeration.is_some() && kind.is_integer() {
        return dictionary();
    }
    match kind {
        MetricType::Vector(of) => DataType::List(element(of, enumeration, is_nullable)),
        MetricType::Struct(of) => DataType::Struct(fields(&of.members, is_nullable)),
        MetricType::Int8 => DataType::Int8,
        MetricType::Int16 => DataType::Int16,
        MetricType::Int32 => DataType::Int32,
        MetricType::Int64 => DataType::Int64,
        MetricType::Uint8 => DataType::UInt8,
        MetricType::Uint16 => DataType::UInt16,
        MetricType::Uint32 => DataType::UInt32,
        MetricType::Uint64 => DataType::UInt64,
        MetricType::Real32 => DataType::Float32,
        MetricType::Real64 => DataType::Float64,
        MetricType::Boolean => DataType::Boolean,
        MetricType::String => DataType::Utf8,
        MetricType::Blob(_) => DataType::Binary,
    }
}
