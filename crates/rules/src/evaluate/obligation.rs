//! Conditions that must follow an event, or hold after it.

use super::{
    edge::Edge,
    event::{Event, EventKind},
    kleene::Kleene,
    rows::RESTART,
};
use crate::program::MAX_PENDING;
use serde::{Deserialize, Serialize};

/// A moment after which something must be.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Obligation {
    start: u64,
    /// Whether the moment itself is known.
    is_known: bool,
    /// Whether a part of the time is unknown.
    is_uncertain: bool,
    /// Whether the condition was true once.
    was_true: bool,
}

/// The required time of the condition: nanoseconds after the moment.
#[derive(Debug, Clone, Copy)]
pub enum Demand {
    /// Once until then.
    Within(u64),
    /// At each sample of this interval.
    Always(u64, u64),
}

impl Demand {
    fn end(self) -> u64 {
        match self {
            Self::Within(end) | Self::Always(_, end) => end,
        }
    }

    fn begin(self) -> u64 {
        match self {
            Self::Within(_) => 0,
            Self::Always(begin, _) => begin,
        }
    }
}

/// A sample as an event or a check sees it.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    pub time: u64,
    pub sequence: u64,
    /// Samples missing before it.
    pub missing: u64,
    /// The condition that begins it.
    pub trigger: Kleene,
    /// The required condition.
    pub condition: Kleene,
}

/// The state of an event or a check.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Tracker {
    edge: Edge,
    pending: Vec<Obligation>,
    last_time: u64,
}

impl Tracker {
    /// Whether it is within its bounds.
    pub fn is_bounded(&self) -> bool {
        self.pending.len() <= MAX_PENDING
    }

    /// Takes the next sample of an event after which nothing must follow.
    pub fn step_alone(&mut self, moment: Moment, report: &mut impl FnMut(Event)) {
        if let Some(is_known) = self.edge.step(moment.missing, moment.trigger) {
            report(Event { is_known, ..Event::new(EventKind::Matched, moment.time, moment.sequence) });
        }
    }

    /// Takes the next sample.
    pub fn step(&mut self, demand: Demand, moment: Moment, report: &mut impl FnMut(Event)) {
        self.pass_gap(demand, moment, report);
        if let Some(is_known) = self.edge.step(moment.missing, moment.trigger) {
            self.begin(moment, is_known, report);
        }
        self.pending.retain_mut(|obligation| match obligation.judge(demand, moment) {
            None => true,
            Some(kind) => {
                report(obligation.event(kind, moment));
                false
            }
        });
        self.last_time = moment.time;
    }

    fn begin(&mut self, moment: Moment, is_known: bool, report: &mut impl FnMut(Event)) {
        let obligation = Obligation { start: moment.time, is_known, is_uncertain: false, was_true: false };
        if self.pending.len() == MAX_PENDING {
            return report(obligation.event(EventKind::Unknown, moment));
        }
        self.reserve();
        self.pending.push(obligation);
    }

    /// Grows by doubling, but never beyond the bound.
    fn reserve(&mut self) {
        let length = self.pending.len();
        if length == self.pending.capacity() {
            let wanted = (length * 2).clamp(4, MAX_PENDING);
            self.pending.reserve_exact(wanted.saturating_sub(length));
        }
    }

    /// Samples of a gap are unknown.
    fn pass_gap(&mut self, demand: Demand, moment: Moment, report: &mut impl FnMut(Event)) {
        if moment.missing == 0 {
            return;
        }
        if moment.missing == RESTART {
            for obligation in self.pending.drain(..) {
                report(obligation.event(EventKind::Unknown, moment));
            }
        }
        for obligation in &mut self.pending {
            let begin = obligation.start.saturating_add(demand.begin());
            let end = obligation.start.saturating_add(demand.end());
            // Samples can have the same time.
            obligation.is_uncertain |= self.last_time <= end && moment.time >= begin;
        }
    }
}

impl Obligation {
    /// The verdict, once there is one.
    fn judge(&mut self, demand: Demand, moment: Moment) -> Option<EventKind> {
        let is_over = moment.time > self.start.saturating_add(demand.end());
        match demand {
            Demand::Within(_) if is_over && self.is_uncertain => Some(EventKind::Unknown),
            Demand::Within(_) if is_over => Some(EventKind::Violated),
            Demand::Within(_) if moment.condition == Kleene::True => Some(EventKind::Matched),
            Demand::Always(..) if is_over && (self.is_uncertain || !self.was_true) => {
                Some(EventKind::Unknown)
            }
            Demand::Always(..) if is_over => Some(EventKind::Satisfied),
            Demand::Always(begin, _) if moment.time < self.start.saturating_add(begin) => None,
            Demand::Always(..) if moment.condition == Kleene::False => Some(EventKind::Violated),
            Demand::Within(_) | Demand::Always(..) => {
                self.is_uncertain |= moment.condition == Kleene::Unknown;
                self.was_true |= moment.condition == Kleene::True;
                None
            }
        }
    }

    fn event(&self, kind: EventKind, moment: Moment) -> Event {
        let event = Event::new(kind, moment.time, moment.sequence);
        Event { is_known: event.is_known && self.is_known, since: Some(self.start), ..event }
    }
}
