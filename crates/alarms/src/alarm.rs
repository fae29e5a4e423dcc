//! An alarm as its readers see it.

use crate::names::{as_severity, as_standing};
use oasis_rules::{Standing, program::Severity};
use serde::{Deserialize, Serialize};

/// Which alarm: a rule for an instance.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct AlarmKey {
    /// The rule.
    pub rule: String,
    /// The node of the instance.
    pub node: String,
    /// The instance.
    pub instance: String,
}

/// An alarm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AlarmView {
    /// Which one.
    #[serde(flatten)]
    pub key: AlarmKey,
    /// Its state.
    #[serde(with = "as_standing")]
    pub state: Standing,
    /// Whether it needs no acknowledgement: an operator has seen it, or it is normal.
    pub acknowledged: bool,
    /// Urgency of the alarm.
    #[serde(with = "as_severity")]
    pub severity: Severity,
    /// Whether its condition is known.
    pub is_known: bool,
    /// The text for people, as of when it was raised.
    pub message: Option<String>,
    /// The value that was compared.
    pub value: Option<f64>,
    /// The limit that the value was compared with.
    pub limit: Option<f64>,
    /// The unit of both.
    pub unit: Option<String>,
    /// Since when the condition has been true, nanoseconds on the node's clock.
    pub since: Option<u64>,
    /// When it was raised last, nanoseconds on the node's clock.
    pub raised: Option<u64>,
    /// When its condition was over last, nanoseconds on the node's clock.
    pub cleared: Option<u64>,
    /// The sequence number of the sample of its last change.
    pub sequence: Option<u64>,
    /// Why its last change happened, if there is more to say.
    pub cause: Option<String>,
    /// When its timed shelve ends, nanoseconds on the DAC's clock.
    pub shelved_until: Option<u64>,
    /// Whether it is shelved until it clears.
    pub shelved_once: bool,
    /// Whether an operator has suppressed it.
    pub suppressed: bool,
    /// Whether an operator has taken it out of service.
    pub out_of_service: bool,
    /// The comment of the last action.
    pub comment: Option<String>,
    /// Principal of the last action.
    pub principal: Option<String>,
    /// Number of raises in the last hour, at most [`MAX_COUNTED_RAISES`].
    pub raised_last_hour: u32,
    /// The revision of its last change.
    pub revision: u64,
}

impl AlarmView {
    /// An alarm that was never raised.
    pub fn new(key: AlarmKey) -> Self {
        Self {
            key,
            state: Standing::Normal,
            acknowledged: true,
            severity: Severity::Medium,
            is_known: true,
            message: None,
            value: None,
            limit: None,
            unit: None,
            since: None,
            raised: None,
            cleared: None,
            sequence: None,
            cause: None,
            shelved_until: None,
            shelved_once: false,
            suppressed: false,
            out_of_service: false,
            comment: None,
            principal: None,
            raised_last_hour: 0,
            revision: 0,
        }
    }

    /// Whether an operator silences it: shelved, suppressed or out of service.
    pub fn is_silenced(&self) -> bool {
        self.shelved_until.is_some() || self.shelved_once || self.suppressed || self.out_of_service
    }
}

/// Most raises that [`AlarmView::raised_last_hour`] counts.
pub const MAX_COUNTED_RAISES: usize = 60;

/// Which alarms.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Without the normal ones, unless an operator silences them.
    pub is_standing: bool,
    /// Alarms of this rule.
    pub rule: Option<String>,
    /// Alarms of this node.
    pub node: Option<String>,
    /// Alarms of instances with this name.
    pub instance: Option<String>,
    /// Alarms of this severity.
    pub severity: Option<Severity>,
    /// After this one, in the order of keys.
    pub after: Option<AlarmKey>,
    /// Maximum number of alarms; 0 for all.
    pub most: usize,
}

impl Filter {
    /// Whether an alarm passes, apart from its place.
    pub(crate) fn matches(&self, view: &AlarmView) -> bool {
        let is = |asked: &Option<String>, found: &str| asked.as_deref().is_none_or(|asked| asked == found);
        is(&self.rule, &view.key.rule)
            && is(&self.node, &view.key.node)
            && is(&self.instance, &view.key.instance)
            && self.severity.is_none_or(|severity| severity == view.severity)
            && (!self.is_standing || view.state != Standing::Normal || view.is_silenced())
    }
}

/// Alarms in the order of their keys.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AlarmList {
    /// The newest revision that they show.
    pub revision: u64,
    /// The alarms.
    pub alarms: Vec<AlarmView>,
    /// [`Filter::after`] for the next ones; none after the last one.
    pub next: Option<AlarmKey>,
}

/// Changes after a revision.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Changes {
    /// The revision up to which these are all changes.
    pub revision: u64,
    /// Alarms that changed, in the order of their last change.
    pub alarms: Vec<AlarmView>,
    /// Alarms that are gone, because their rule is, with the revisions of their end.
    pub removed: Vec<(u64, AlarmKey)>,
    /// Whether some alarms that are gone may be missing here: list all alarms again.
    pub is_incomplete: bool,
}
