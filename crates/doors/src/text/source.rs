//! Source of the samples of a message.

use oasis_dac::{Delivery, Instance};
use oasis_store::Series;
use oasis_wire::schema::ProbeType;
use std::sync::Arc;

/// An instance of the DAC, or a series of the archive: names and type of the samples.
#[derive(Debug, Clone)]
pub enum Source {
    /// From the instance's topic log.
    Live(Arc<Instance>),
    /// From the archive.
    Stored(Arc<Series>),
}

impl Source {
    /// Node name.
    pub fn node(&self) -> &str {
        match self {
            Self::Live(instance) => &instance.node,
            Self::Stored(series) => &series.node,
        }
    }

    /// Instance name.
    pub fn instance(&self) -> &str {
        match self {
            Self::Live(instance) => &instance.name,
            Self::Stored(series) => &series.instance,
        }
    }

    /// The type of the samples.
    pub fn probe_type(&self) -> &ProbeType {
        match self {
            Self::Live(instance) => &instance.probe_type,
            Self::Stored(series) => &series.probe_type,
        }
    }

    /// Which samples of the instance these are.
    pub fn delivery(&self) -> Delivery {
        match self {
            Self::Live(instance) => instance.delivery,
            Self::Stored(_) => Delivery::Every,
        }
    }
}
