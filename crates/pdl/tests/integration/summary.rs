//! A summary of a model: a line for each declaration and each metric with its properties.

use oasis_pdl::model::{Enum, Limits, Metric, Model, Number, Probe, Struct, Threshold, Type};

/// Declarations in the model's order: enums, structs, probes.
pub fn summary(model: &Model) -> String {
    let enums = model.enums.iter().map(enumeration);
    let structs = model.structs.iter().map(structure);
    let probes = model.probes.iter().map(probe);
    enums.chain(structs).chain(probes).collect()
}

fn enumeration(declared: &Enum) -> String {
    let head = format!("enum {} : {}{}\n", declared.name, declared.base.name(), doc(&declared.doc));
    let values = declared.enumerators.iter();
    head + &values
        .map(|value| format!("  {} = {}{}\n", value.name, value.value, doc(&value.doc)))
        .collect::<String>()
}

fn structure(declared: &Struct) -> String {
    format!("struct {}{}\n{}", declared.name, doc(&declared.doc), metrics(&declared.members))
}

fn probe(probe: &Probe) -> String {
    let sort = if probe.is_abstract { "abstract probe" } else { "probe" };
    let base = probe.base.as_ref().map(|base| format!(" : {base}")).unwrap_or_default();
    let uuid = probe.uuid.map(|uuid| format!(" {uuid}")).unwrap_or_default();
    let rate = probe.demand.map(|demand| format!(" rate=demand,{},{}", demand.min, demand.max));
    let rate = rate.unwrap_or_default();
    let head = format!("{sort} {}{base} {}{uuid}{rate}{}\n", probe.name, probe.version, doc(&probe.doc));
    head + &metrics(&probe.metrics)
}

fn metrics(metrics: &[Metric]) -> String {
    metrics.iter().map(metric).collect()
}

fn metric(metric: &Metric) -> String {
    let mut line = format!("  {} {}", kind(&metric.kind), metric.name);
    let mut say = |what: &str, value: Option<String>| {
        if let Some(value) = value {
            line += &format!(" {what}={value}");
        }
    };
    say("unit", metric.unit.clone());
    say("kind", metric.behavior.map(|behavior| format!("{behavior:?}")));
    say("label", metric.label.as_ref().map(|label| format!("{label:?}")));
    let Limits { min, max, warn, alarm } = &metric.limits;
    say("min", min.map(number));
    say("max", max.map(number));
    say("warn", threshold(warn));
    say("alarm", threshold(alarm));
    line + &doc(&metric.doc) + "\n"
}

fn kind(kind: &Type) -> String {
    match kind {
        Type::Primitive(simple) => simple.name().into(),
        Type::Vector(element) => format!("vector<{}>", self::kind(element)),
        Type::Struct(name) => format!("struct {name}"),
        Type::Enum(name) => format!("enum {name}"),
        Type::Blob(of) => oasis_pdl::model::blob_spelling(*of),
    }
}

fn number(number: Number) -> String {
    match number {
        Number::Integer(value) => value.to_string(),
        Number::Real(value) => format!("{value:?}"),
    }
}

fn threshold(threshold: &Threshold) -> Option<String> {
    let below = threshold.below.map(|below| format!("<{}", number(below)));
    let above = threshold.above.map(|above| format!(">{}", number(above)));
    let values = threshold.values.iter().map(|value| format!("={value}"));
    let parts: Vec<String> = below.into_iter().chain(above).chain(values).collect();
    (!parts.is_empty()).then(|| parts.join(","))
}

fn doc(doc: &Option<String>) -> String {
    doc.as_ref().map(|doc| format!(" {doc:?}")).unwrap_or_default()
}
