//! Kinds of probes.

use serde::{Deserialize, Serialize};

/// Trigger of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProbeKind {
    /// The node calls the probe at a rate.
    Periodic,
    /// The application flushes the probe.
    Pushed,
    /// A sample is kept if a metric has changed; silence means that none has. With a rate the node calls the probe,
    /// without one the application flushes it.
    OnChange,
    /// The application flushes the probe on each event.
    Event,
}
