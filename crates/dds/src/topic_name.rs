//! The topic of a probe type, as the IDL that `oasis pdl compile --lang idl` writes names it.

use oasis_wire::schema::{Metric, MetricType};

/// Names of a topic and of its type.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TopicName {
    /// The topic, such as `Plant/Line7/Line`.
    pub name: String,
    /// The struct of its samples, such as `Plant::Line7::LineSample`.
    pub type_name: String,
}

impl TopicName {
    /// Returns the topic of the probe type of this scoped name.
    pub fn of(probe_type: &str) -> Self {
        Self { name: probe_type.replace("::", "/"), type_name: format!("{probe_type}Sample") }
    }
}

/// Whether samples of both lists of metrics have the same bytes. Names and documentation do not matter, and neither do enumerators.
pub fn same_layout(one: &[Metric], other: &[Metric]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same_bytes(&one.kind, &other.kind))
}

fn same_bytes(one: &MetricType, other: &MetricType) -> bool {
    match (one, other) {
        (MetricType::Vector(one), MetricType::Vector(other)) => same_bytes(one, other),
        (MetricType::Struct(one), MetricType::Struct(other)) => same_layout(&one.members, &other.members),
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_outside_of_modules_has_a_topic() {
        let topic = TopicName::of("Fan");
        assert_eq!((&*topic.name, &*topic.type_name), ("Fan", "FanSample"));
    }

    #[test]
    fn other_names_are_the_same_layout_and_other_types_are_not() {
        let metric = |name: &str, kind| vec![Metric::new(name, kind)];
        let vector = |of| MetricType::Vector(Box::new(of));
        assert!(same_layout(&metric("a", MetricType::Int8), &metric("b", MetricType::Int8)));
        assert!(!same_layout(&metric("a", MetricType::Int8), &metric("a", MetricType::Uint8)));
        assert!(!same_layout(&metric("a", MetricType::Int8), &[]));
        let (short, long) = (vector(MetricType::Int8), vector(MetricType::Int16));
        assert!(same_layout(&metric("a", short.clone()), &metric("b", short.clone())));
        assert!(!same_layout(&metric("a", short), &metric("a", long)));
    }
}
