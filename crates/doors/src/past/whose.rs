//! Whose samples a message has: an instance's that is here, or a series' of the archive.

use oasis_dac::{Delivery, Instance};
use oasis_store::Series;
use oasis_wire::schema::ProbeType;
use std::sync::Arc;

/// Names and type that go with samples.
#[derive(Debug, Clone)]
pub enum Whose {
    /// From the instance's topic log.
    Live(Arc<Instance>),
    /// From the archive.
    Past(Arc<Series>),
}

impl Whose {
    /// Node name.
    pub fn node(&self) -> &str {
        match self {
            Self::Live(instance) => &instance.node,
            Self::Past(series) => &series.node,
        }
    }

    /// Instance name.
    pub fn instance(&self) -> &str {
        match self {
            Self::Live(instance) => &instance.name,
            Self::Past(series) => &series.instance,
        }
    }

    /// How to read the samples.
    pub fn probe_type(&self) -> &ProbeType {
        match self {
            Self::Live(instance) => &instance.probe_type,
            Self::Past(series) => &series.probe_type,
        }
    }

    /// Which samples of the instance these are.
    pub fn delivery(&self) -> Delivery {
        match self {
            Self::Live(instance) => instance.delivery,
            Self::Past(_) => Delivery::Every,
        }
    }
}
