//! Alarms as another DAC sends them (`docs/reference/http-api.md`).

use crate::{
    AlarmKey, AlarmView,
    names::{as_severity, as_standing},
};
use oasis_rules::{Standing, program::Severity};
use oasis_wire::quantity::Epoch;
use serde::{Deserialize, Serialize};

/// A DAC on the way of an alarm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlarmHop {
    /// Its name, or its address if it has none.
    pub dac: String,
    /// Its life.
    pub epoch: Epoch,
}

/// An alarm in JSON.
#[derive(Debug, Clone, Deserialize)]
pub struct WireAlarm {
    #[serde(flatten)]
    key: AlarmKey,
    #[serde(with = "as_standing")]
    state: Standing,
    acknowledged: bool,
    #[serde(with = "as_severity")]
    severity: Severity,
    quality: String,
    message: Option<String>,
    value: Option<f64>,
    limit: Option<f64>,
    unit: Option<String>,
    since: Option<u64>,
    raised: Option<u64>,
    cleared: Option<u64>,
    sequence: Option<u64>,
    cause: Option<String>,
    shelved_until: Option<u64>,
    #[serde(default)]
    shelved_once: bool,
    #[serde(default)]
    suppressed: bool,
    #[serde(default)]
    out_of_service: bool,
    comment: Option<String>,
    principal: Option<String>,
    #[serde(default)]
    raised_last_hour: u32,
    #[serde(default)]
    pub removed: bool,
    /// The DACs on the way before the one that sends it, the home first.
    #[serde(default)]
    pub path: Vec<AlarmHop>,
}

/// A page of the list.
#[derive(Debug, Clone, Deserialize)]
pub struct WirePage {
    pub alarms: Vec<WireAlarm>,
    pub next: Option<String>,
}

impl WireAlarm {
    /// As it is shown here, without a revision.
    pub fn view(self) -> AlarmView {
        AlarmView {
            state: self.state,
            acknowledged: self.acknowledged,
            severity: self.severity,
            is_known: self.quality == "good",
            message: self.message,
            value: self.value,
            limit: self.limit,
            unit: self.unit,
            since: self.since,
            raised: self.raised,
            cleared: self.cleared,
            sequence: self.sequence,
            cause: self.cause,
            shelved_until: self.shelved_until,
            shelved_once: self.shelved_once,
            suppressed: self.suppressed,
            out_of_service: self.out_of_service,
            comment: self.comment,
            principal: self.principal,
            raised_last_hour: self.raised_last_hour,
            ..AlarmView::new(self.key)
        }
    }
}
