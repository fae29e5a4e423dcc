//! Actions of operators on alarms, in the terms of ISA-18.2 and OPC UA Part 9.

use crate::{AlarmKey, AlarmsError};
use oasis_wire::quantity::Nanos;

/// An action of an operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    /// The alarm.
    pub key: AlarmKey,
    /// The action.
    pub verb: ActionVerb,
    /// Why, for the journal.
    pub comment: Option<String>,
    /// Principal of the action.
    pub principal: String,
    /// Now on the DAC's wall clock.
    pub now: Nanos,
}

/// An action on an alarm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActionVerb {
    /// Confirms that an operator has seen it.
    Acknowledge,
    /// Silences it for a while, until it clears, or until the first of both.
    Shelve {
        /// For how long.
        seconds: Option<u64>,
        /// Until it clears.
        once: bool,
    },
    /// Ends a shelve.
    Unshelve,
    /// Silences it until [`ActionVerb::Unsuppress`].
    Suppress,
    /// Ends a suppression.
    Unsuppress,
    /// Silences it because its equipment is under maintenance.
    OutOfService,
    /// Ends that.
    InService,
}

/// Why an action is refused.
#[derive(Debug, thiserror::Error)]
pub enum ActionError {
    /// There is no such alarm.
    #[error("no alarm {} of {}/{}: list them with `oasis alarms --all`", .0.rule, .0.node, .0.instance)]
    Unknown(AlarmKey),
    /// The alarm is not in a state for it.
    #[error("{0}")]
    Conflict(#[from] Conflict),
    /// A shelve without an end.
    #[error("a shelve needs an end: a number of seconds, or that the alarm clears")]
    Endless,
    /// A shelve that is too long or ends at once.
    #[error("a shelve lasts 1 to {0} seconds: suppress the alarm to silence it without an end")]
    Seconds(u64),
    /// A comment that is too long.
    #[error("a comment has at most {0} bytes")]
    Comment(usize),
    /// There is no room for another alarm.
    #[error("there are {0} alarms already: no room for one that was never raised")]
    TooMany(usize),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] AlarmsError),
}

/// Why an alarm's state does not allow an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Conflict {
    /// The alarm is normal, or another operator was faster.
    #[error("nothing to acknowledge: the alarm is normal or was acknowledged already")]
    NothingToAcknowledge,
    /// The alarm is not shelved.
    #[error("the alarm is not shelved")]
    NotShelved,
    /// The alarm is suppressed.
    #[error("the alarm is suppressed already")]
    Suppressed,
    /// The alarm is not suppressed.
    #[error("the alarm is not suppressed")]
    NotSuppressed,
    /// The alarm is out of service.
    #[error("the alarm is out of service already")]
    OutOfService,
    /// The alarm is in service.
    #[error("the alarm is in service")]
    InService,
}
