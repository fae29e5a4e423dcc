//! The states of an alarm, and their changes. Sans-I/O: events, actions and times go in; the caller stores the effects.
//!
//! Four things are independent of each other: whether the alarm *stands* (active, or latched: its condition is over and
//! not acknowledged), whether its condition is *known*, whether an operator *silences* it (shelved, suppressed, out of
//! service), and the last message to the destinations of notifications.

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
    pub timed: Option<TimedShelve>,
    /// Until its condition is over.
    pub once: bool,
}

/// A shelve that ends at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimedShelve {
    /// When it ends, nanoseconds on the DAC's clock.
    pub until: u64,
    /// First duration: it is never longer from any moment on.
    pub nanos: u64,
}

impl Shelve {
    pub fn is_on(self) -> bool {
        self.timed.is_some() || self.once
    }
}

/// Effects of a change, besides its own entry in the journal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Effects {
    /// A shelve has ended.
    pub is_unshelved: bool,
    /// Message to the destinations.
    pub message: Option<MessageKind>,
}

impl State {
    /// Creates the state of an alarm that was never raised.
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
    pub fn is_idle(self) -> bool {
        self.standing == Standing::Normal && !self.is_silenced()
    }

    /// A result of the rule. `latches`: whether the rule wants an acknowledgement after its condition is over. `is_late`: it happened long ago, and what follows it
    /// may be known soon: the destinations learn of what is left by [`State::settle_late`].
    pub fn on_event(&mut self, kind: EventKind, is_known: bool, latches: bool, is_late: bool) -> Effects {
        let told = self.is_told;
        let effects = self.change(kind, is_known, latches);
        if !is_late {
            return effects;
        }
        // An alarm that was not reported needs no message if it is over.
        self.is_told = told && kind != EventKind::Raised;
        Effects { message: None, ..effects }
    }

    fn change(&mut self, kind: EventKind, is_known: bool, latches: bool) -> Effects {
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
                let timed = timed.map(|nanos| TimedShelve { until: now.saturating_add(nanos), nanos });
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

    /// Whether the destinations have yet to learn of late events.
    pub fn is_untold(self) -> bool {
        let mut state = self;
        state.effects(false).message.is_some()
    }

    /// Ends a phase of late events.
    pub fn settle_late(&mut self) -> Effects {
        self.effects(false)
    }

    /// The rule is gone: the alarm is never heard of again.
    pub fn on_removal(self) -> Effects {
        Effects { is_unshelved: false, message: self.is_told.then_some(MessageKind::Cleared) }
    }

    /// Another DAC evaluates the rule from now on. What an operator has silenced until a time, or without an end, stays silenced.
    pub fn on_departure(&mut self) -> Effects {
        let effects = Effects {
            is_unshelved: self.shelve.once && self.standing != Standing::Normal,
            ..self.on_removal()
        };
        if effects.is_unshelved {
            self.shelve = Shelve::default();
        }
        (self.standing, self.acknowledged, self.is_known, self.is_told) =
            (Standing::Normal, true, true, false);
        effects
    }

    /// Returns the message to the destinations: the alarm is active and not silenced, or no longer so.
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

#[cfg(test)]
mod tests {
    use super::*;
    use ActionVerb as Verb;
    use EventKind::{Cleared, Known, Raised, Unknown};

    const NANOS_PER_SECOND: u64 = 1_000_000_000;

    /// An input of an alarm. Shelves begin at 0 and last ten seconds.
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Input {
        Event { kind: EventKind, is_known: bool, latches: bool, is_late: bool },
        Act(ActionVerb),
        Time(u64),
        SettleLate,
    }

    fn inputs() -> Vec<Input> {
        let mut inputs = Vec::new();
        for kind in [Raised, Cleared, Unknown, Known] {
            for latches in [false, true] {
                for is_late in [false, true] {
                    let event = |is_known| Input::Event { kind, is_known, latches, is_late };
                    inputs.extend([true, false].map(event));
                }
            }
        }
        let shelves = [(Some(10), false), (None, true), (Some(10), true)];
        inputs.extend(shelves.map(|(seconds, once)| Input::Act(Verb::Shelve { seconds, once })));
        let others = [
            Verb::Acknowledge,
            Verb::Unshelve,
            Verb::Suppress,
            Verb::Unsuppress,
            Verb::OutOfService,
            Verb::InService,
        ];
        inputs.extend(others.map(Input::Act));
        inputs.extend([0, 5 * NANOS_PER_SECOND, 10 * NANOS_PER_SECOND].map(Input::Time));
        inputs.push(Input::SettleLate);
        inputs
    }

    /// Returns whether it is refused, too.
    fn step(mut state: State, input: Input) -> (State, Effects, bool) {
        let effects = match input {
            Input::Event { kind, is_known, latches, is_late } => {
                Ok(state.on_event(kind, is_known, latches, is_late))
            }
            Input::SettleLate => Ok(state.settle_late()),
            Input::Act(verb) => state.on_action(verb, 0),
            Input::Time(now) => Ok(state.on_time(now)),
        };
        (state, effects.unwrap_or_default(), effects.is_err())
    }

    /// Checks the invariants of a state.
    fn check_state(state: State) {
        match state.standing {
            Standing::Normal => {
                assert!(state.acknowledged && state.is_told == state.is_untold(), "{state:?}");
            }
            Standing::Latched => assert!(!state.acknowledged, "{state:?}"),
            Standing::Active => {
                assert_eq!(state.is_told || state.is_untold(), !state.is_silenced(), "{state:?}");
            }
        }
        assert!(!(state.is_told && state.is_silenced()), "{state:?}");
    }

    /// Checks the invariants of a change.
    fn check_change(before: State, input: Input, after: State, effects: Effects, is_refused: bool) {
        let context = format!("{before:?} {input:?} {after:?} {effects:?}");
        let is_late = matches!(input, Input::Event { is_late: true, .. });
        let is = |kind| matches!(input, Input::Event { kind: of, .. } if of == kind);
        if is_refused {
            assert_eq!((before, effects), (after, Effects::default()), "{context}");
        }
        if is(Raised) {
            assert!(after.standing == Standing::Active && !after.acknowledged, "{context}");
        }
        if is(Unknown) || is(Known) {
            assert_eq!(State { is_known: before.is_known, ..after }, before, "{context}");
            assert_eq!(effects, Effects::default(), "{context}");
        }
        if before.standing != after.standing {
            let is_right = match (before.standing, after.standing) {
                (_, Standing::Active) => is(Raised),
                (Standing::Active, _) => is(Cleared),
                _ => before.standing == Standing::Latched && input == Input::Act(Verb::Acknowledge),
            };
            assert!(is_right, "{context}");
        }
        match effects.message {
            _ if before.is_silenced() && after.is_silenced() => {
                assert_eq!(effects.message, None, "{context}")
            }
            Some(MessageKind::Raised) => {
                assert!(after.is_told && after.standing == Standing::Active, "{context}")
            }
            Some(MessageKind::Cleared) => assert!(before.is_told && !after.is_told, "{context}"),
            None => assert!(before.is_told == after.is_told || is_late && is(Raised), "{context}"),
        }
        if is_late {
            assert_eq!(effects.message, None, "{context}");
        }
        if input == Input::SettleLate {
            assert!(!after.is_untold() && effects.message.is_some() == before.is_untold(), "{context}");
        }
        if is(Raised) && !is_late && !after.is_silenced() {
            assert_eq!(effects.message, Some(MessageKind::Raised), "{context}");
        }
        if is(Cleared) && before.standing == Standing::Active && before.shelve.once {
            assert!(effects.is_unshelved && !after.shelve.is_on(), "{context}");
        }
        if let (Input::Time(now), Some(timed)) = (input, before.shelve.timed) {
            assert_eq!(effects.is_unshelved, now >= timed.until, "{context}");
        }
    }

    #[test]
    fn every_state_that_can_be_reached_keeps_what_is_promised() {
        let mut seen = vec![State::new()];
        let mut at = 0;
        while let Some(state) = seen.get(at).copied() {
            at += 1;
            check_state(state);
            for input in inputs() {
                let (after, effects, is_refused) = step(state, input);
                check_change(state, input, after, effects, is_refused);
                if !seen.contains(&after) {
                    seen.push(after);
                }
            }
        }
        // Normal, active, acknowledged and latched in each of two qualities and 16 ways of silence. If a latched one is
        // not silenced, the destinations know of it or do not: it may have been raised while it was silenced. After
        // late events, a raise and a clear have yet to be reported, in two qualities.
        assert_eq!(seen.len(), 4 * 2 * 16 + 2 + 2 * 2);
    }

    #[test]
    fn a_shelve_lasts_no_longer_when_the_clock_steps_back() {
        let mut state = State::new();
        let day = 86_400 * NANOS_PER_SECOND;
        state.on_action(Verb::Shelve { seconds: Some(10), once: false }, day).unwrap();
        assert_eq!(state.on_time(day + NANOS_PER_SECOND), Effects::default());
        // A day back.
        assert_eq!(state.on_time(NANOS_PER_SECOND), Effects::default());
        assert_eq!(state.shelve.timed.map(|timed| timed.until), Some(11 * NANOS_PER_SECOND));
        assert!(state.on_time(11 * NANOS_PER_SECOND).is_unshelved);
        assert!(!state.is_silenced());
    }
}
