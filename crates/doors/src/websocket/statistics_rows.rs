//! The rows of a message of statistics.

use crate::view::OverheadView;
use oasis_wire::loss::Cause;
use serde::{Serialize, Serializer, ser::SerializeSeq};
use std::{collections::BTreeMap, sync::Arc};

/// Values of an instance that change while samples come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstanceRow {
    pub topic: u32,
    pub received: u64,
    pub missing: u64,
    /// When its newest batch arrived; 0 before the first.
    pub arrived: u64,
    /// The causes of `missing`; none if nothing is missing.
    pub causes: Option<Arc<BTreeMap<Cause, u64>>>,
}

/// A row as it is written: `[id, received, missing, arrived]`, and if the client asks for that and something is missing, its causes.
#[derive(Debug)]
pub struct WrittenRow {
    pub row: InstanceRow,
    pub has_causes: bool,
}

impl Serialize for WrittenRow {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let InstanceRow { topic, received, missing, arrived, causes } = &self.row;
        let causes = causes.as_deref().filter(|_| self.has_causes);
        let mut list = serializer.serialize_seq(Some(4 + usize::from(causes.is_some())))?;
        list.serialize_element(topic)?;
        for number in [received, missing, arrived] {
            list.serialize_element(number)?;
        }
        causes.iter().try_for_each(|causes| list.serialize_element(causes))?;
        list.end()
    }
}

/// Values of a node that change while it is connected.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NodeRow {
    pub name: String,
    pub clock_offset_ns: Option<i64>,
    pub round_trip_ns: Option<u64>,
    pub overhead: Option<OverheadView>,
}

/// The message.
#[derive(Debug, Serialize)]
pub struct StatisticsView {
    pub dac_time: u64,
    pub nodes: Vec<NodeRow>,
    pub instances: Vec<WrittenRow>,
}
