//! Everything that has a name, by the place of its name.

use oasis_pdl::{
    Model, Span,
    model::{Enum, Enumerator, Metric, Probe, Struct},
};

/// Something that has a name.
#[derive(Clone, Copy)]
pub enum NamedItem<'a> {
    Probe(&'a Probe),
    Struct(&'a Struct),
    Enum(&'a Enum),
    Enumerator(&'a Enum, &'a Enumerator),
    Metric(&'a Metric),
}

/// Everything that was declared, and where its name stands. Inherited metrics come more than once.
pub fn declarations(model: &Model) -> impl Iterator<Item = (Span, NamedItem<'_>)> {
    let probes = model.probes.iter().flat_map(|probe| {
        let metrics = probe.metrics.iter().map(|metric| (metric.place.0, NamedItem::Metric(metric)));
        [(probe.place.0, NamedItem::Probe(probe))].into_iter().chain(metrics)
    });
    let structs = model.structs.iter().flat_map(|declared| {
        let members = declared.members.iter().map(|member| (member.place.0, NamedItem::Metric(member)));
        [(declared.place.0, NamedItem::Struct(declared))].into_iter().chain(members)
    });
    let enums = model.enums.iter().flat_map(|declared| {
        let values = declared.enumerators.iter();
        let values = values.map(move |value| (value.place.0, NamedItem::Enumerator(declared, value)));
        [(declared.place.0, NamedItem::Enum(declared))].into_iter().chain(values)
    });
    probes.chain(structs).chain(enums)
}
