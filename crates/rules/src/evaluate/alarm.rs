//! The state of one alarm for one instance.

use super::{
    event::{Event, EventKind, Standing},
    kleene::Kleene,
    rows::RESTART,
};
use crate::program::OnUnknown;
use serde::{Deserialize, Serialize};

/// Conditions under which an alarm changes its state.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Time for which the condition must be true, in nanoseconds.
    pub raise_for: u64,
    /// Time for which the other one must be true.
    pub clear_for: u64,
    pub latch: bool,
    pub on_unknown: OnUnknown,
}

/// A sample as an alarm sees it.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    pub time: u64,
    pub sequence: u64,
    /// Samples missing before it.
    pub missing: u64,
    /// The condition that raises it.
    pub raise: Kleene,
    /// The condition that clears it.
    pub clear: Kleene,
}

/// The state of an alarm.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AlarmState {
    standing: Standing,
    /// Since when the condition that would change the state has been true.
    since: Option<u64>,
    /// Whether the condition was known; none before it was known first.
    was_known: Option<bool>,
    /// Time and sequence number of the last sample.
    last: (u64, u64),
}

impl AlarmState {
    pub fn new() -> Self {
        Self { standing: Standing::Normal, since: None, was_known: None, last: (0, 0) }
    }

    /// Its state.
    pub fn known_standing(&self) -> Standing {
        self.standing
    }

    /// In a state that is known from elsewhere.
    pub fn standing(standing: Standing) -> Self {
        Self { standing, ..Self::new() }
    }

    /// Takes the next sample, and reports changes.
    pub fn step(&mut self, settings: Settings, moment: Moment, report: &mut impl FnMut(Event)) {
        self.pass_gap(settings, moment, report);
        let is_active = self.standing == Standing::Active;
        let condition = if is_active { moment.clear } else { moment.raise };
        self.judge(condition, moment, report);
        let duration = if is_active { settings.clear_for } else { settings.raise_for };
        match resolved(condition, settings.on_unknown, is_active) {
            Kleene::True => {
                let since = *self.since.get_or_insert(moment.time);
                if moment.time.saturating_sub(since) >= duration {
                    self.change(settings, moment, condition != Kleene::Unknown, since, report);
                }
            }
            Kleene::False | Kleene::Unknown => self.since = None,
        }
        self.last = (moment.time, moment.sequence);
    }

    /// Unknown stops the timer, unless it counts as true.
    fn pass_gap(&mut self, settings: Settings, moment: Moment, report: &mut impl FnMut(Event)) {
        if moment.missing == 0 {
            return;
        }
        let is_active = self.standing == Standing::Active;
        let counts = resolved(Kleene::Unknown, settings.on_unknown, is_active) == Kleene::True;
        if !counts || moment.missing == RESTART {
            self.since = None;
        }
        if self.was_known == Some(true) {
            self.was_known = Some(false);
            let (time, sequence) = self.last;
            let missing = Some(moment.missing).filter(|missing| *missing != RESTART);
            report(self.event(Event { missing, ..Event::new(EventKind::Unknown, time, sequence) }));
        }
    }

    /// Reports when the condition becomes unknown, and when it is known again.
    fn judge(&mut self, condition: Kleene, moment: Moment, report: &mut impl FnMut(Event)) {
        let is_known = condition != Kleene::Unknown;
        match (self.was_known, is_known) {
            (Some(true), false) => {
                report(self.event(Event::new(EventKind::Unknown, moment.time, moment.sequence)));
            }
            (Some(false), true) => {
                report(self.event(Event::new(EventKind::Known, moment.time, moment.sequence)));
            }
            (None, false) => return,
            (None | Some(true), true) | (Some(false), false) => {}
        }
        self.was_known = Some(is_known);
    }

    fn change(
        &mut self,
        settings: Settings,
        moment: Moment,
        is_known: bool,
        since: u64,
        report: &mut impl FnMut(Event),
    ) {
        let (kind, standing) = match self.standing {
            Standing::Normal | Standing::Latched => (EventKind::Raised, Standing::Active),
            Standing::Active if settings.latch => (EventKind::Cleared, Standing::Latched),
            Standing::Active => (EventKind::Cleared, Standing::Normal),
        };
        (self.standing, self.since) = (standing, None);
        let event = Event::new(kind, moment.time, moment.sequence);
        report(self.event(Event { is_known, since: Some(since), ..event }));
    }

    fn event(&self, event: Event) -> Event {
        Event { standing: Some(self.standing), ..event }
    }
}

/// Resolves an unknown condition by the setting of the alarm.
fn resolved(condition: Kleene, on_unknown: OnUnknown, is_active: bool) -> Kleene {
    match (condition, on_unknown) {
        (Kleene::Unknown, OnUnknown::Raise) => Kleene::from(!is_active),
        (Kleene::Unknown, OnUnknown::Clear) => Kleene::from(is_active),
        (condition, _) => condition,
    }
}
