//! Makes the probe type of messages that another program recorded.

use oasis_wire::schema::{Metric, ProbeType};
use uuid::Uuid;

/// Returns a type with these metrics.
pub fn described(name: &str, metrics: Vec<Metric>) -> ProbeType {
    // Deterministic, because the UUID identifies the type.
    let identity = format!("{name} {}", serde_json::to_string(&metrics).unwrap_or_default());
    let uuid = Uuid::new_v5(&Uuid::NAMESPACE_OID, identity.as_bytes());
    ProbeType { name: name.to_owned(), uuid, version: "1.0".into(), doc: None, rate: None, metrics }
}
