//! State of a client besides its connection, for each protocol.

use super::{fleet_subscription::FleetSubscription, statistics::StatisticsReader};
use oasis_channel::InstanceState;
use oasis_dac::{Admission, PeerLine, RegistryCursor, SchemaHash};
use oasis_http::permissions::CommandFailure;
use std::collections::HashSet;

/// Schemas of a client that are remembered. Beyond that one may come twice.
const MAX_SCHEMAS: usize = 1_000;

/// State of a native client.
#[derive(Debug, Default)]
pub struct NativeClient {
    /// Whether it gets whole pictures of the registry.
    pub watches: bool,
    /// Whether the registry has changed since its last picture.
    pub is_behind: bool,
    /// Version of the registry in its last picture.
    pub pictured: u64,
    /// Position in the changes of the registry, if the client follows them.
    pub deltas: Option<Box<DeltaReader>>,
    /// Position in the statistics, if the client follows them.
    pub statistics: Option<Box<StatisticsReader>>,
    /// The fleets that it reads.
    pub fleets: Vec<FleetSubscription>,
    /// Schemas that it has received in messages of their own, if it asked for that.
    pub schemas: Option<Box<KnownSchemas>>,
    /// Requests that could not be understood.
    pub nonsense: u32,
    /// Commands under way.
    pub commands: u32,
}

/// Schemas that a client has received.
#[derive(Debug, Default)]
pub struct KnownSchemas(HashSet<SchemaHash>);

impl KnownSchemas {
    /// Adds a schema. Returns whether the client lacks it. After a bounded number it has to receive all of them again.
    pub fn add(&mut self, hash: SchemaHash) -> bool {
        if self.0.len() >= MAX_SCHEMAS {
            self.0.clear();
        }
        self.0.insert(hash)
    }
}

/// A client that reads changes.
#[derive(Debug, Clone, Copy)]
pub struct DeltaReader {
    /// Position in the registry.
    pub cursor: RegistryCursor,
    /// Whether it has received no message yet.
    pub is_new: bool,
}

impl DeltaReader {
    /// Continues here. The first message comes even if nothing has changed.
    pub fn new(cursor: RegistryCursor) -> Self {
        Self { cursor, is_new: true }
    }

    /// Returns whether a message is to be sent.
    pub fn lags(&self, revision: u64) -> bool {
        self.is_new || self.cursor.revision < revision
    }
}

/// State of a client of 2012.
#[derive(Debug, Default)]
pub struct EisaClient {
    /// Whether a message may have several packets.
    pub is_packed: bool,
    /// Commands under way.
    pub commands: u32,
}

impl EisaClient {
    /// The protocol has no error message, so only a counter and the log report it.
    pub fn command_ended(&mut self, outcome: &Result<InstanceState, CommandFailure>, admission: &Admission) {
        self.commands -= 1;
        let Err(error) = outcome else { return };
        admission.count_refused(error.code());
        if let Some(left_out) = admission.may_log(PeerLine::Refused) {
            tracing::info!(%error, others = left_out.others(), "a command of a client of 2012 failed");
        }
    }
}
