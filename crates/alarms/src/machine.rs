//! The states of an alarm, and what changes them. Sans-I/O: events, actions and times go in; the caller writes down what comes out.
//!
//! Four things are independent of each other: whether the alarm *stands* (active, or latched: its condition is over and nobody has acknowledged it), whether its
//! condition is *known*, whether an operator *silences* it (shelved, suppressed, out of service), and what the destinations of notifications were told last.

use crate::{
    action::{ActionVerb, Conflict},
    outbox::MessageKind,
};
use oasis_rules::{EventKind, Standing};

/// The state of an alarm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State {
    pub standing: Standing,
    /// Whether it needs no acknowledgement.
    pub acknowledged: bool,
    pub is_known: bool,
    pub shelve: Shelve,
    pub suppressed: bool,
    pub out_of_service: bool,
    /// Whether the last message about it said that it stands.
    pub is_told: bool,
}

/// Until when an alarm is shelved. Both ends: until the first of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shelve {
    pub timed: Option<Timed>,
    /// Until its condition is over.
    pub once: bool,
}

/// A shelve that ends at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timed {
    /// When it ends, nanoseconds on the DAC's clock.
    pub until: u64,
    /// How long it was to last at first: never longer from any moment on.
    pub nanos: u64,
}

impl Shelve {
    pub fn is_on(self) -> bool {
        self.timed.is_some() || self.once
    }
}

/// What follows from a change, besides its own entry in the journal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Effects {
    /// A shelve has ended.
    pub is_unshelved: bool,
    /// What the destinations are to learn.
    pub message: Option<MessageKind>,
}

impl State {
    /// Of an alarm that was never raised.
    pub fn new() -> Self {
        Self {
            standing: Standing::Normal,
            acknowledged: true,
            is_known: true,
            shelve: Shelve::default(),
            suppressed: false,
            out_of_service: false,
            is_told: false,
        }
    }

    /// Whether an operator silences it.
    pub fn is_silenced(self) -> bool {
        self.shelve.is_on() || self.suppressed || self.out_of_service
    }

    /// Whether it says no more than a new one.
    #[expect(dead_code, reason = "for the bound of alarms")]
    pub fn is_idle(self) -> bool {
        self.standing == Standing::Normal && !self.is_silenced()
    }

    /// A result of the rule. `latches`: whether the rule wants an acknowledgement after its condition is over.
    pub fn on_event(&mut self, kind: EventKind, is_known: bool, latches: bool) -> Effects {
        self.is_known = is_known;
        match kind {
            EventKind::Raised => {
                (self.standing, self.acknowledged) = (Standing::Active, false);
                // Each raise is worth a message.
                self.is_told = false;
                self.effects(false)
            }
            EventKind::Cleared => {
                if self.standing != Standing::Active {
                    return Effects::default();
                }
                let waits = latches && !self.acknowledged;
                self.standing = if waits { Standing::Latched } else { Standing::Normal };
                self.acknowledged = !waits;
                let is_unshelved = self.shelve.once;
                if is_unshelved {
                    self.shelve = Shelve::default();
                }
                self.effects(is_unshelved)
            }
            // Data that is missing neither raises nor resolves.
            EventKind::Unknown
            | EventKind::Known
            | EventKind::Matched
            | EventKind::Violated
            | EventKind::Satisfied => Effects::default(),
        }
    }

    /// An action of an operator.
    ///
    /// # Errors
    /// If there is nothing to do; then nothing changes.
    pub fn on_action(&mut self, verb: ActionVerb, now: u64) -> Result<Effects, Conflict> {
        match verb {
            ActionVerb::Acknowledge if self.acknowledged => return Err(Conflict::NothingToAcknowledge),
            ActionVerb::Acknowledge => {
                self.acknowledged = true;
                if self.standing == Standing::Latched {
                    self.standing = Standing::Normal;
                }
            }
            ActionVerb::Shelve { seconds, once } => {
                let timed = seconds.map(|seconds| seconds.saturating_mul(1_000_000_000));
                let timed = timed.map(|nanos| Timed { until: now.saturating_add(nanos), nanos });
                self.shelve = Shelve { timed, once };
            }
            ActionVerb::Unshelve if !self.shelve.is_on() => return Err(Conflict::NotShelved),
            ActionVerb::Unshelve => self.shelve = Shelve::default(),
            ActionVerb::Suppress if self.suppressed => return Err(Conflict::Suppressed),
            ActionVerb::Suppress => self.suppressed = true,
            ActionVerb::Unsuppress if !self.suppressed => return Err(Conflict::NotSuppressed),
            ActionVerb::Unsuppress => self.suppressed = false,
            ActionVerb::OutOfService if self.out_of_service => return Err(Conflict::OutOfService),
            ActionVerb::OutOfService => self.out_of_service = true,
            ActionVerb::InService if !self.out_of_service => return Err(Conflict::InService),
            ActionVerb::InService => self.out_of_service = false,
        }
        Ok(self.effects(false))
    }

    /// Time passes, or the clock steps back: then a timed shelve ends no later than it would if it began now.
    pub fn on_time(&mut self, now: u64) -> Effects {
        let Some(timed) = &mut self.shelve.timed else { return Effects::default() };
        timed.until = timed.until.min(now.saturating_add(timed.nanos));
        if now < timed.until {
            return Effects::default();
        }
        self.shelve = Shelve::default();
        self.effects(true)
    }

    /// The rule is gone: the alarm is never heard of again.
    #[expect(dead_code, reason = "for the messages")]
    pub fn on_removal(self) -> Effects {
        Effects { is_unshelved: false, message: self.is_told.then_some(MessageKind::Cleared) }
    }

    /// What the destinations are to learn: that the alarm is active and nobody silences it, or no longer so.
    fn effects(&mut self, is_unshelved: bool) -> Effects {
        let message = match (self.is_told, self.standing, self.is_silenced()) {
            (true, Standing::Normal, _) | (true, _, true) => Some(MessageKind::Cleared),
            (false, Standing::Active, false) => Some(MessageKind::Raised),
            _ => None,
        };
        if let Some(kind) = message {
            self.is_told = kind == MessageKind::Raised;
        }
        Effects { is_unshelved, message }
    }
}
