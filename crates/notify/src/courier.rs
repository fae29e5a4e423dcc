//! The courier of a destination: a thread that takes its messages from the outbox, sends the most severe first, and writes down what became of them.
//!
//! A message is settled after it was sent, so a crash meanwhile repeats it, with the same key. If the destination accepts nothing, all messages wait. If it
//! refuses one message for now, messages about the same alarm are deferred, and others are sent. If an alarm changes while its message waits, the place
//! receives the newest state.

mod aside;
mod progress;
mod rate_limit;
#[cfg(test)]
mod tests;

pub use progress::{Condition, Progress};

use crate::{
    Notification, backoff,
    clock::Clock,
    config::Configured,
    destination::{AtOnce, Scope, SendError},
};
use aside::Aside;
use oasis_alarms::{Alarms, AlarmsError, Message, Outcome};
use oasis_wire::quantity::Nanos;
use rate_limit::RateLimit;
use std::{
    num::NonZeroU32,
    sync::Arc,
    time::{Duration, Instant},
};

/// Messages that are read at once.
const READ_CHUNK_MESSAGES: usize = 128;
/// Longest sleep: a message may wait for a time that an earlier process has chosen.
const MAX_IDLE_WAIT: Duration = Duration::from_secs(5);
/// Time from the start to the first repetition: meanwhile the rules, which choose among destinations, are loaded.
const FIRST_REPEAT: Duration = Duration::from_secs(2);
/// Pause after a failure of the database.
const DATABASE_PAUSE: Duration = Duration::from_secs(1);

/// Delivers the messages of one destination.
pub struct Courier<'a> {
    configured: &'a Configured,
    progress: &'a Progress,
    alarms: &'a Arc<Alarms>,
    dac: &'a str,
    clock: &'a dyn Clock,
    limit: RateLimit,
    /// Whether the limit of messages a minute was reached, and messages still wait for that.
    is_limited: bool,
    /// Failures of the place in a row.
    failures: u32,
    aside: Aside,
    /// Outcomes that could not be written down yet. Nothing is sent before.
    unsettled: Vec<(i64, Outcome)>,
    next_repeat: Option<Instant>,
    /// When the first message is tried again, on a clock that does not jump and on the DAC's.
    held: Option<(Instant, Nanos)>,
}

/// Next step of a courier.
enum Next {
    /// Looks again at once.
    Continue,
    /// Sleeps, unless it is woken.
    Wait(Duration),
}

impl<'a> Courier<'a> {
    /// Creates the courier of a destination.
    pub fn new(
        configured: &'a Configured,
        progress: &'a Progress,
        alarms: &'a Arc<Alarms>,
        dac: &'a str,
        clock: &'a dyn Clock,
    ) -> Self {
        let a_minute = NonZeroU32::new(configured.limits.per_minute).unwrap_or(NonZeroU32::MIN);
        Self {
            configured,
            progress,
            alarms,
            dac,
            clock,
            limit: RateLimit::per_minute(a_minute),
            is_limited: false,
            failures: 0,
            aside: Aside::default(),
            unsettled: Vec::new(),
            next_repeat: configured.destination.repeats_every().map(|_| clock.steady() + FIRST_REPEAT),
            held: None,
        }
    }

    /// Does what is to be done now. Returns how long it may sleep if nothing wakes it.
    pub fn work(&mut self, is_ending: impl Fn() -> bool) -> Duration {
        loop {
            let repeat = self.repeat();
            match self.send_next() {
                _ if is_ending() => return Duration::ZERO,
                Ok(Next::Continue) => {}
                Ok(Next::Wait(pause)) => return pause.min(repeat),
                Err(error) => {
                    tracing::error!(destination = self.configured.name, %error, "outbox failed, trying again");
                    self.progress.fail(&format!("the outbox of the alarms failed: {error}"));
                    return DATABASE_PAUSE;
                }
            }
        }
    }

    /// Repeats what stands if it is time. Returns the time until the next repetition.
    fn repeat(&mut self) -> Duration {
        let destination = &self.configured.destination;
        let (Some(interval), Some(next)) = (destination.repeats_every(), self.next_repeat) else {
            return Duration::MAX;
        };
        let left = next.saturating_duration_since(self.clock.steady());
        if !left.is_zero() {
            return left;
        }
        let now = self.clock.wall().0;
        let standing = self.alarms.standing_for(&self.configured.name);
        let standing: Vec<_> =
            standing.into_iter().map(|alarm| Notification::standing(alarm, self.dac, now)).collect();
        match destination.repeat(&standing) {
            Ok(()) => self.progress.succeed(),
            Err(error) => self.progress.fail(&error.why),
        }
        self.next_repeat = Some(self.clock.steady() + interval);
        interval
    }

    /// The DAC's clock. If that was set back, messages wait no longer than they have to.
    fn time(&self) -> Nanos {
        let now = self.clock.wall();
        match self.held {
            Some((until, at)) if self.clock.steady() >= until => now.max(at),
            _ => now,
        }
    }

    fn send_next(&mut self) -> Result<Next, AlarmsError> {
        while let Some((id, outcome)) = self.unsettled.last() {
            self.alarms.settle(*id, outcome.clone())?;
            self.unsettled.pop();
        }
        let now = self.time();
        let due = self.alarms.due_for(&self.configured.name, now, READ_CHUNK_MESSAGES + self.aside.len())?;
        let due = self.aside.select(due, now);
        let steady = self.clock.steady();
        if due.is_empty() {
            self.is_limited = false;
            let held = self.held.map(|(until, _)| until.saturating_duration_since(steady));
            let held = held.filter(|left| !left.is_zero());
            return Ok(Next::Wait(
                self.aside.next(now).into_iter().chain(held).fold(MAX_IDLE_WAIT, Duration::min),
            ));
        }
        let left = self.limit.wait(steady);
        if !left.is_zero() {
            self.is_limited = true;
            return Ok(Next::Wait(left));
        }
        let batch: Vec<_> = due.into_iter().take(self.most_at_once()).collect();
        let ids: Vec<_> = batch.iter().map(|message| message.id).collect();
        if !self.alarms.begin_sending(&self.configured.name, &ids)? {
            // A newer state has replaced one of them meanwhile.
            return Ok(Next::Continue);
        }
        self.limit.take(steady);
        self.send(batch, now)
    }

    fn most_at_once(&self) -> usize {
        match self.configured.destination.most_at_once() {
            AtOnce::WhenLimited(most) if self.is_limited => most,
            AtOnce::One | AtOnce::WhenLimited(_) => 1,
            AtOnce::Always(most) => most,
        }
    }

    fn send(&mut self, batch: Vec<Message>, now: Nanos) -> Result<Next, AlarmsError> {
        let notifications: Vec<_> =
            batch.iter().map(|message| Notification::of(message.clone(), self.dac, now.0)).collect();
        match self.configured.destination.send(&notifications) {
            Ok(()) => {
                self.failures = 0;
                self.progress.succeed();
                for message in &batch {
                    self.aside.forget(&message.alarm.key);
                    self.settle(message.id, Outcome::Delivered)?;
                }
                Ok(Next::Continue)
            }
            Err(error) if error.scope == Scope::Place => self.wait(&batch, &error, now),
            Err(error) => {
                self.progress.fail(&error.why);
                if let [message] = &batch[..] {
                    return self.refuse(message, &error, now);
                }
                // One of them is refused, and the others must not suffer from that.
                for message in batch {
                    if let Next::Wait(pause) = self.send(vec![message], now)? {
                        return Ok(Next::Wait(pause));
                    }
                }
                Ok(Next::Continue)
            }
        }
    }

    /// The place takes nothing: the first message waits, and all after it.
    fn wait(&mut self, batch: &[Message], error: &SendError, now: Nanos) -> Result<Next, AlarmsError> {
        self.failures = self.failures.saturating_add(1);
        self.progress.fail(&error.why);
        let pause = backoff::pause(self.failures).max(error.retry_after.unwrap_or_default());
        tracing::warn!(
            destination = self.configured.name,
            error = error.why,
            pause_ms = pause.as_millis() as u64,
            "notification not delivered, trying again"
        );
        let (old, young): (Vec<_>, Vec<_>) = batch.iter().partition(|message| self.is_too_old(message, now));
        for message in old {
            self.give_up(message, error)?;
        }
        if let Some(first) = young.first() {
            let at = Nanos(now.0.saturating_add(pause.as_nanos() as u64));
            self.held = Some((self.clock.steady() + pause, at));
            self.settle(first.id, Outcome::Retry { at, why: error.why.clone() })?;
        }
        Ok(Next::Wait(pause))
    }

    /// The place refuses this message, for ever or for now.
    fn refuse(&mut self, message: &Message, error: &SendError, now: Nanos) -> Result<Next, AlarmsError> {
        if error.scope == Scope::Final || self.is_too_old(message, now) {
            self.give_up(message, error)?;
            return Ok(Next::Continue);
        }
        if self.aside.put(message, error, now) {
            // Its place in the outbox stays; from now on a newer state goes before it.
            self.settle(message.id, Outcome::Retry { at: now, why: error.why.clone() })?;
            return Ok(Next::Continue);
        }
        // With this many alarms put aside it is no longer about single messages.
        self.wait(std::slice::from_ref(message), error, now)
    }

    fn give_up(&mut self, message: &Message, error: &SendError) -> Result<(), AlarmsError> {
        let rule = &message.alarm.key.rule;
        tracing::error!(
            destination = self.configured.name,
            rule = ?rule,
            error = error.why,
            "notification given up"
        );
        self.aside.forget(&message.alarm.key);
        self.settle(message.id, Outcome::GivenUp { why: error.why.clone() })
    }

    fn is_too_old(&self, message: &Message, now: Nanos) -> bool {
        let age = Duration::from_nanos(now.0.saturating_sub(message.written));
        age >= self.configured.limits.give_up_after
    }

    fn settle(&mut self, id: i64, outcome: Outcome) -> Result<(), AlarmsError> {
        self.alarms.settle(id, outcome.clone()).inspect_err(|_| self.unsettled.push((id, outcome)))
    }
}
