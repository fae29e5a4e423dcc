//! An alarm in JSON.

use oasis_alarms::{AlarmHop, AlarmKey, AlarmView, RelayedAlarm, rows};
use oasis_http::permissions::Caller;
use serde::Serialize;
use utoipa::ToSchema;

/// A number in JSON, which has no infinite ones.
pub fn finite(number: Option<f64>) -> Option<f64> {
    number.filter(|number| number.is_finite())
}

/// An alarm: a rule for an instance. What is not known is absent.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Alarm)]
pub struct AlarmJson {
    rule: String,
    node: String,
    instance: String,
    /// `normal`, `active` or `latched`.
    state: &'static str,
    /// Whether it needs no acknowledgement: it is acknowledged or normal.
    acknowledged: bool,
    /// `low`, `medium`, `high` or `critical`.
    severity: &'static str,
    /// `good`, or `unknown` if its condition is not known now. That changes no state.
    quality: &'static str,
    /// Text for people, as of when it was raised.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// The value that was compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<f64>,
    /// Limit that the value was compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<f64>,
    /// Unit of both.
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<String>,
    /// Since when its condition has been true, nanoseconds on the node's clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<u64>,
    /// When it was raised last, nanoseconds on the node's clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    raised: Option<u64>,
    /// When its condition was over last, nanoseconds on the node's clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    cleared: Option<u64>,
    /// The sequence number of the sample of its last change.
    #[serde(skip_serializing_if = "Option::is_none")]
    sequence: Option<u64>,
    /// Why it changed last, if there is more to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<String>,
    /// When its timed shelve ends, nanoseconds on the DAC's clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    shelved_until: Option<u64>,
    /// Whether it is shelved until it clears.
    shelved_once: bool,
    suppressed: bool,
    out_of_service: bool,
    /// Comment of the last action.
    #[serde(skip_serializing_if = "Option::is_none")]
    comment: Option<String>,
    /// Principal that acted last; with the address only for callers that may read everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    principal: Option<String>,
    /// Number of times that it was raised in the last hour, at most 60.
    raised_last_hour: u32,
    /// The revision of its last change.
    revision: u64,
    /// Whether its rule is gone, and the alarm with it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    removed: bool,
    /// The DAC that keeps it, if this one relays it.
    #[serde(skip_serializing_if = "Option::is_none")]
    dac: Option<String>,
    /// The DACs on its way to this one, its home first; absent for alarms of this DAC.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<Vec<AlarmWay>>,
}

/// A DAC on the way of an alarm.
#[derive(Debug, Serialize, ToSchema)]
pub struct AlarmWay {
    /// Its name, or its address if it has none.
    dac: String,
    /// Its life.
    epoch: String,
}

impl AlarmJson {
    pub fn new(alarm: AlarmView, caller: &Caller) -> Self {
        let AlarmKey { rule, node, instance } = alarm.key;
        Self {
            rule,
            node,
            instance,
            state: alarm.state.name(),
            acknowledged: alarm.acknowledged,
            severity: alarm.severity.name(),
            quality: rows::quality(alarm.is_known),
            message: alarm.message,
            value: finite(alarm.value),
            limit: finite(alarm.limit),
            unit: alarm.unit,
            since: alarm.since,
            raised: alarm.raised,
            cleared: alarm.cleared,
            sequence: alarm.sequence,
            cause: alarm.cause,
            shelved_until: alarm.shelved_until,
            shelved_once: alarm.shelved_once,
            suppressed: alarm.suppressed,
            out_of_service: alarm.out_of_service,
            comment: alarm.comment,
            principal: alarm.principal.map(|principal| caller.shown_author(&principal).to_owned()),
            raised_last_hour: alarm.raised_last_hour,
            revision: alarm.revision,
            removed: false,
            dac: None,
            path: None,
        }
    }

    /// One of another DAC.
    pub fn relayed(alarm: RelayedAlarm, caller: &Caller) -> Self {
        let RelayedAlarm { view, path } = alarm;
        let way = |hop: &AlarmHop| AlarmWay { dac: hop.dac.clone(), epoch: hop.epoch.to_string() };
        let path: Vec<_> = path.iter().map(way).collect();
        let dac = path.first().map(|home| home.dac.clone());
        Self { dac, path: Some(path), ..Self::new(view, caller) }
    }

    /// One that is gone.
    pub fn removed(key: AlarmKey, revision: u64, caller: &Caller) -> Self {
        Self { removed: true, revision, ..Self::new(AlarmView::new(key), caller) }
    }
}
