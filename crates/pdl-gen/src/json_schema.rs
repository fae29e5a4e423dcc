//! The schema that travels with registration.

use oasis_pdl::{
    Model,
    model::{self, Type},
};
use oasis_wire::{
    quantity::{DemandRange, Hertz},
    schema::{Behavior, EnumType, Enumerator, Metric, MetricType, ProbeType, Rate, StructType, Threshold},
};
use serde_json::Number;

/// The schemas of all concrete probes as a JSON list, indented for people.
pub fn generate(model: &Model) -> String {
    let schemas: Vec<ProbeType> = model.probes.iter().filter_map(|probe| schema(model, probe)).collect();
    // Schemas contain only strings, numbers and lists, which JSON can always represent.
    serde_json::to_string_pretty(&schemas).unwrap_or_default() + "\n"
}

/// The schema of a probe; none for an abstract one, which never sends samples.
pub fn schema(model: &Model, probe: &model::Probe) -> Option<ProbeType> {
    Some(ProbeType {
        name: probe.name.clone(),
        uuid: probe.uuid.filter(|_| !probe.is_abstract)?,
        version: probe.version.clone(),
        doc: probe.doc.clone(),
        rate: probe.demand.and_then(rate),
        metrics: metrics(model, &probe.metrics),
    })
}

/// The compiler has checked the bounds of the model.
fn rate(demand: model::Demand) -> Option<Rate> {
    let range = DemandRange::new(Hertz::new(demand.min).ok()?, Hertz::new(demand.max).ok()?);
    Some(Rate { demand: Some(range.ok()?) })
}

fn metrics(model: &Model, metrics: &[model::Metric]) -> Vec<Metric> {
    let metric = |metric: &model::Metric| Metric {
        name: metric.name.clone(),
        kind: kind(model, &metric.kind),
        doc: metric.doc.clone(),
        unit: metric.unit.clone(),
        behavior: metric.behavior.map(behavior),
        label: metric.label.clone(),
        enumeration: enumeration(model, &metric.kind),
        min: metric.limits.min.and_then(number),
        max: metric.limits.max.and_then(number),
        warn: threshold(&metric.limits.warn),
        alarm: threshold(&metric.limits.alarm),
    };
    metrics.iter().map(metric).collect()
}

/// JSON has no infinity and no NaN; the model has neither.
fn number(number: model::Number) -> Option<Number> {
    match number {
        model::Number::Integer(value) => Number::from_i128(value),
        model::Number::Real(value) => Number::from_f64(value),
    }
}

fn threshold(of: &model::Threshold) -> Option<Threshold> {
    let threshold = Threshold {
        below: of.below.and_then(number),
        above: of.above.and_then(number),
        values: of.values.clone(),
    };
    (threshold != Threshold::default()).then_some(threshold)
}

/// The enum of a metric, or of the innermost elements of its vectors.
fn enumeration(model: &Model, of: &Type) -> Option<EnumType> {
    match of {
        Type::Vector(element) => enumeration(model, element),
        Type::Enum(name) => model.enum_named(name).map(enum_type),
        Type::Primitive(_) | Type::Struct(_) | Type::Blob(_) => None,
    }
}

fn enum_type(declared: &model::Enum) -> EnumType {
    let value = |value: &model::Enumerator| Enumerator {
        name: value.name.clone(),
        value: value.value,
        doc: value.doc.clone(),
    };
    EnumType { name: declared.name.clone(), values: declared.enumerators.iter().map(value).collect() }
}

fn kind(model: &Model, of: &Type) -> MetricType {
    match of {
        Type::Primitive(primitive) => (*primitive).into(),
        // Plain numbers for readers without enums; the names are in a separate field.
        Type::Enum(name) => model.base_of(name).into(),
        Type::Blob(of) => MetricType::Blob(*of),
        Type::Vector(element) => MetricType::Vector(Box::new(kind(model, element))),
        Type::Struct(name) => {
            let declared = model.structs.iter().find(|declared| declared.name == *name);
            let members = declared.map_or(&[][..], |declared| &declared.members);
            MetricType::Struct(StructType { name: name.clone(), members: metrics(model, members) })
        }
    }
}

fn behavior(behavior: model::Behavior) -> Behavior {
    match behavior {
        model::Behavior::Counter => Behavior::Counter,
        model::Behavior::Gauge => Behavior::Gauge,
        model::Behavior::State => Behavior::State,
        model::Behavior::Event => Behavior::Event,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{collections::HashMap, path::PathBuf};

    #[test]
    fn a_rate_that_follows_demand_is_in_the_schema() {
        let text = "[uuid(0f3c7d52-9c7e-4a57-8a9f-62c1f1b8c7aa); rate(demand, 0.5, 100)] probe P { };";
        let files = HashMap::from([(PathBuf::from("a.pdl"), text.to_owned())]);
        let model = oasis_pdl::compile(&["a.pdl".into()], &[], &files).model;
        let schema = schema(&model, &model.probes[0]).unwrap();
        let json = serde_json::to_value(&schema).unwrap();
        assert_eq!(json["rate"], serde_json::json!({"demand": {"min": 0.5, "max": 100.0}}));
        assert_eq!(serde_json::from_value::<ProbeType>(json).unwrap(), schema);
    }
}
