//! Hover texts: the declaration of a name, its documentation, and its size in a sample.

use super::{
    declared::{NamedItem, declarations},
    size::Sizes,
    workspace::View,
};
use crate::text::Lines;
use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind, Position};
use oasis_pdl::{
    Model,
    model::{Metric, Number, Probe, Threshold, Type, blob_spelling},
};

/// Returns the text for a position.
pub fn hover(view: &View<'_>, position: Position) -> Option<Hover> {
    let offset = view.offset(position);
    let reference = view.report.references.iter().find(|reference| view.holds(reference.place, offset));
    let (place, target) = match reference {
        Some(reference) => (reference.place, reference.target),
        None => {
            let places = declarations(&view.report.model).map(|(place, _)| place);
            let place = places.into_iter().find(|place| view.holds(*place, offset))?;
            (place, place)
        }
    };
    let (_, declared) = declarations(&view.report.model).find(|(place, _)| *place == target)?;
    let value = described(declared, &view.report.model);
    let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value });
    Some(Hover { contents, range: Some(Lines::new(view.text).range(place)) })
}

/// Markdown: the declaration, its documentation, its size.
fn described(declared: NamedItem<'_>, model: &Model) -> String {
    let mut sizes = Sizes::new(model);
    let (code, doc, facts) = match declared {
        NamedItem::Probe(probe) => {
            let facts =
                format!("{}, {}", counted(probe.metrics.len(), "metric"), row(sizes.of_all(&probe.metrics)));
            (probe_code(probe), &probe.doc, facts)
        }
        NamedItem::Struct(declared) => {
            let facts = row(sizes.of_all(&declared.members));
            (format!("struct {}", declared.name), &declared.doc, facts)
        }
        NamedItem::Enum(declared) => {
            let names: Vec<&str> = declared.enumerators.iter().map(|value| value.name.as_str()).collect();
            let code = format!("enum {} : {}", declared.name, declared.base.name());
            (code, &declared.doc, names.join(", "))
        }
        NamedItem::Enumerator(of, value) => {
            (format!("{} = {}", value.name, value.value), &value.doc, format!("of enum `{}`", of.name))
        }
        NamedItem::Metric(metric) => (metric_code(metric, model), &metric.doc, row(sizes.of(&metric.kind))),
    };
    let code = format!("```pdl\n{code}\n```");
    [Some(code), doc.clone(), Some(facts)].into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}

fn row(size: super::size::Size) -> String {
    format!("{} in a packed row", size.words())
}

fn counted(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

fn probe_code(probe: &Probe) -> String {
    let uuid = probe.uuid.map(|uuid| format!("uuid({uuid}); ")).unwrap_or_default();
    let sort = if probe.is_abstract { "abstract probe" } else { "probe" };
    let base = probe.base.as_ref().map(|base| format!(" : {base}")).unwrap_or_default();
    let rate = probe.demand.map(|demand| format!("; rate(demand, {}, {})", demand.min, demand.max));
    let rate = rate.unwrap_or_default();
    format!("[{uuid}version({}){rate}]\n{sort} {}{base}", probe.version, probe.name)
}

fn metric_code(metric: &Metric, model: &Model) -> String {
    let attributes = attributes(metric, model);
    let code = format!("{} {}", type_code(&metric.kind), metric.name);
    if attributes.is_empty() { code } else { format!("[{}]\n{code}", attributes.join("; ")) }
}

fn attributes(metric: &Metric, model: &Model) -> Vec<String> {
    let kinds = oasis_pdl::model::Behavior::ALL;
    let kind = |wanted| kinds.into_iter().find(|(_, kind)| *kind == wanted).map(|(name, _)| name);
    let text =
        |name: &str, value: &Option<String>| value.as_ref().map(|value| format!("{name}(\"{value}\")"));
    let number = |name: &str, value: Option<Number>| value.map(|value| format!("{name}({})", number(value)));
    let limits = &metric.limits;
    let all = [
        text("unit", &metric.unit),
        metric.behavior.and_then(kind).map(|kind| format!("kind({kind})")),
        text("label", &metric.label),
        number("min", limits.min),
        number("max", limits.max),
        threshold("warn", &limits.warn, &metric.kind, model),
        threshold("alarm", &limits.alarm, &metric.kind, model),
    ];
    all.into_iter().flatten().collect()
}

fn threshold(name: &str, threshold: &Threshold, kind: &Type, model: &Model) -> Option<String> {
    let below = threshold.below.map(|below| format!("< {}", number(below)));
    let above = threshold.above.map(|above| format!("> {}", number(above)));
    let values = threshold.values.iter().map(|value| enumerator(*value, kind, model));
    let all: Vec<String> = below.into_iter().chain(above).chain(values).collect();
    (!all.is_empty()).then(|| format!("{name}({})", all.join(", ")))
}

fn enumerator(value: i64, kind: &Type, model: &Model) -> String {
    let mut kind = kind;
    while let Type::Vector(element) = kind {
        kind = element;
    }
    let declared = if let Type::Enum(name) = kind { model.enum_named(name) } else { None };
    let found = declared.and_then(|declared| declared.enumerators.iter().find(|known| known.value == value));
    found.map_or_else(|| value.to_string(), |known| known.name.clone())
}

fn number(number: Number) -> String {
    match number {
        Number::Integer(value) => value.to_string(),
        Number::Real(value) => value.to_string(),
    }
}

fn type_code(kind: &Type) -> String {
    match kind {
        Type::Primitive(simple) => simple.name().into(),
        Type::Vector(element) => format!("vector<{}>", type_code(element)),
        Type::Struct(name) | Type::Enum(name) => name.clone(),
        Type::Blob(of) => blob_spelling(*of),
    }
}
