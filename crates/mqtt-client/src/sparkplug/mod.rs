//! Sparkplug B (<https://sparkplug.eclipse.org/specification/version/3.0/>): payloads, and names in topics.

mod payload;
mod writer;

pub use payload::{BadMetrics, MAX_METRICS, MetricValue, Metrics, RawValue, example};
pub use writer::{OutgoingMetric, OutgoingValue, PayloadWriter, rebirth};

/// The first level of all topics.
pub const NAMESPACE: &str = "spBv1.0";
/// The metric of births and deaths with the number of the connection.
pub const SESSION_NUMBER: &str = "bdSeq";
/// The metric of commands to send all births again (6.4.23).
pub const REBIRTH: &str = "Node Control/Rebirth";
