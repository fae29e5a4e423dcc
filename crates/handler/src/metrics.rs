//! Numbers in the states of handlers, as metrics.

use serde_json::Value;

/// Most metrics of a handler.
pub const MAX_HANDLER_METRICS: usize = 256;

/// The members of a handler's state that are metrics, as paths:
///
/// | path | metrics |
/// |---|---|
/// | `samples` | a number |
/// | `copies.bytes` | a number of an object |
/// | `not_sent{cause}` | each number of an object; the label `cause` has its name |
/// | `links{address}.bytes` | a number of each element of a list; the label is the element's member `address` |
///
/// A name that ends in `_ns` is a time in nanoseconds; the metric has seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StateMetrics {
    /// Numbers that only grow while the handler runs.
    pub counters: &'static [&'static str],
    /// Numbers that go up and down.
    pub gauges: &'static [&'static str],
}

/// The kind of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricKind {
    /// Only grows, until a reset.
    Counter,
    /// Goes up and down.
    Gauge,
}

/// A metric of a handler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandlerMetric {
    /// The name of the handler.
    pub handler: &'static str,
    /// Its own name, with `_` for each point of its path.
    pub name: String,
    /// Its kind.
    pub kind: MetricKind,
    /// A label, and its value.
    pub label: Option<(&'static str, String)>,
    /// The number.
    pub value: String,
}

/// The metrics of handlers.
#[derive(Debug, Default)]
pub struct HandlerMetrics {
    /// The metrics.
    pub metrics: Vec<HandlerMetric>,
    /// Metrics beyond the limit of a handler.
    pub omitted: u64,
}

impl StateMetrics {
    /// Returns the paths that a state lacks, for tests of handlers.
    pub fn absent_from(&self, state: &Value) -> Vec<&'static str> {
        let is_absent = |path: &&'static str| {
            let Path { member, label, rest } = Path::parse(path);
            match (state.get(member), label, rest) {
                // An empty list or object has no members yet.
                (Some(Value::Array(elements)), Some(_), Some(rest)) => {
                    elements.iter().any(|element| element.get(rest).is_none())
                }
                (Some(Value::Object(_)), Some(_), None) => false,
                (Some(value), None, Some(rest)) => !value.get(rest).is_some_and(Value::is_number),
                (Some(value), None, None) => !value.is_number(),
                _ => true,
            }
        };
        self.counters.iter().chain(self.gauges).copied().filter(is_absent).collect()
    }

    /// Adds the metrics of a state.
    pub(crate) fn read(&self, handler: &'static str, state: &Value, to: &mut HandlerMetrics) {
        let mut room = MAX_HANDLER_METRICS;
        let counters = self.counters.iter().map(|path| (*path, MetricKind::Counter));
        let gauges = self.gauges.iter().map(|path| (*path, MetricKind::Gauge));
        for (path, kind) in counters.chain(gauges) {
            let path = Path::parse(path);
            path.visit(state, |label, value| {
                let Some((name, value)) = path.metric(value) else { return };
                let label = label.map(|(name, value)| (name, value.to_owned()));
                // Prometheus refuses an answer that has a series twice.
                let mut of_handler = to.metrics.iter().filter(|metric| metric.handler == handler);
                let is_twice = of_handler.any(|metric| metric.name == name && metric.label == label);
                if room == 0 || is_twice {
                    to.omitted += 1;
                    return;
                }
                room -= 1;
                to.metrics.push(HandlerMetric { handler, name, kind, label, value });
            });
        }
    }
}

/// A path, in its parts.
#[derive(Debug, Clone, Copy)]
struct Path {
    member: &'static str,
    label: Option<&'static str>,
    rest: Option<&'static str>,
}

impl Path {
    fn parse(path: &'static str) -> Self {
        let (head, rest) = path.split_once('.').map_or((path, None), |(head, rest)| (head, Some(rest)));
        let (member, label) =
            head.split_once('{').map_or((head, None), |(member, label)| (member, Some(label)));
        Self { member, label: label.map(|label| label.trim_end_matches('}')), rest }
    }

    /// Calls `visit` with each value of a state, and its label.
    fn visit(&self, state: &Value, mut visit: impl FnMut(Option<(&'static str, &str)>, &Value)) {
        let Some(value) = state.get(self.member) else { return };
        match (value, self.label, self.rest) {
            (Value::Array(elements), Some(label), Some(rest)) => {
                for element in elements {
                    let name = element.get(label).and_then(Value::as_str).unwrap_or_default();
                    element.get(rest).into_iter().for_each(|value| visit(Some((label, name)), value));
                }
            }
            (Value::Object(members), Some(label), None) => {
                members.iter().for_each(|(name, value)| visit(Some((label, name)), value));
            }
            (value, None, Some(rest)) => value.get(rest).into_iter().for_each(|value| visit(None, value)),
            (value, None, None) => visit(None, value),
            _ => {}
        }
    }

    /// Returns name and number; `None` if the value is none.
    fn metric(&self, value: &Value) -> Option<(String, String)> {
        let Value::Number(number) = value else { return None };
        let name = self.rest.map_or_else(|| self.member.to_owned(), |rest| format!("{}_{rest}", self.member));
        Some(match name.strip_suffix("_ns") {
            Some(stem) => (format!("{stem}_seconds"), (number.as_f64()? / 1e9).to_string()),
            None => (name, number.to_string()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const METRICS: StateMetrics = StateMetrics {
        counters: &["samples", "not_sent{cause}", "links{address}.bytes", "absent"],
        gauges: &["copies.bytes", "lag_ns", "condition"],
    };

    fn read(metrics: StateMetrics, state: &Value) -> (Vec<String>, u64) {
        let mut found = HandlerMetrics::default();
        metrics.read("copy", state, &mut found);
        let shown = |metric: &HandlerMetric| {
            let HandlerMetric { name, kind, label, value, .. } = metric;
            format!("{name} {kind:?} {label:?} {value}")
        };
        (found.metrics.iter().map(shown).collect(), found.omitted)
    }

    #[test]
    fn numbers_of_a_state_are_metrics_with_labels() {
        let state = json!({
            "samples": 7, "not_sent": {"refused": 2, "lag": 3}, "links": [{"address": "a", "bytes": 5}],
            "copies": {"bytes": 9}, "lag_ns": 1_500_000_000, "condition": "sending", "other": 1,
        });
        let expected = [
            "samples Counter None 7",
            r#"not_sent Counter Some(("cause", "lag")) 3"#,
            r#"not_sent Counter Some(("cause", "refused")) 2"#,
            r#"links_bytes Counter Some(("address", "a")) 5"#,
            "copies_bytes Gauge None 9",
            "lag_seconds Gauge None 1.5",
        ];
        let (mut found, omitted) = read(METRICS, &state);
        found.sort_by_key(|line| expected.iter().position(|one| one == line));
        assert_eq!((found, omitted), (expected.map(str::to_owned).into(), 0));
        assert_eq!(METRICS.absent_from(&state), ["absent", "condition"]);
    }

    #[test]
    fn the_metrics_of_a_handler_are_bounded() {
        let causes: serde_json::Map<String, Value> =
            (0..MAX_HANDLER_METRICS + 2).map(|cause| (cause.to_string(), cause.into())).collect();
        let (found, omitted) = read(METRICS, &json!({"not_sent": causes, "lag_ns": 1}));
        assert_eq!((found.len(), omitted), (MAX_HANDLER_METRICS, 3));
    }
}
