//! How often a probe should be sampled that leaves its rate to those who read it.
//!
//! Here is the arithmetic, without tasks and commands: who asks for what ([`Asking`]), what that makes together, and what is to be done
//! about it ([`Step`]). `steering` does it.

use crate::Delivery;
use oasis_wire::quantity::{DemandRange, Hertz, TopicId};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{
    sync::{Notify, mpsc},
    time::Instant,
};

/// How long a rate stays after nobody asks for it any more: longer than a page takes to reload. A rate falls at most twice (to what others asked
/// for meanwhile, then to what is asked for now), which is within the 2 s that docs/reference/data-channel.md promises.
const PAUSE: Duration = Duration::from_millis(750);

/// What the readers of one instance ask for.
#[derive(Debug)]
pub struct Demand {
    topic: TopicId,
    /// Guards all of it; held for arithmetic only. Appends never take it.
    held: Mutex<Held>,
    /// Tells the task that steers.
    changed: Notify,
    /// Where a task is started: at most one message on its way for each instance.
    start: mpsc::UnboundedSender<TopicId>,
}

#[derive(Debug, Default)]
struct Held {
    /// None while demand has no say.
    range: Option<DemandRange>,
    /// How many readers ask for each rate.
    asked: BTreeMap<Wanted, u32>,
    /// The rate is higher than what is asked for.
    fall: Option<Fall>,
    /// A task is at work, or about to be.
    is_steered: bool,
}

#[derive(Debug, Clone, Copy)]
struct Fall {
    at: Instant,
    /// The most that was asked for since the pause began.
    to: Hertz,
}

/// A rate that a reader asks for: the bits of its hertz, which have the order of what they mean as it is not negative. Infinite for the highest there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Wanted(u64);

impl From<Delivery> for Wanted {
    fn from(delivery: Delivery) -> Self {
        match delivery {
            Delivery::MaxHz(hertz) => Self(hertz.get().to_bits()),
            // The least and the greatest of a period are worth more the more samples there are.
            Delivery::Every | Delivery::Latest | Delivery::Envelope(_) => Self(f64::INFINITY.to_bits()),
        }
    }
}

/// A reader asks for its rate as long as it holds this.
#[derive(Debug)]
pub struct Asking {
    demand: Arc<Demand>,
    wanted: Wanted,
}

impl Drop for Asking {
    fn drop(&mut self) {
        self.demand.change(|asked| {
            if let Some(readers) = asked.get_mut(&self.wanted) {
                *readers -= 1;
                if *readers == 0 {
                    asked.remove(&self.wanted);
                }
            }
        });
    }
}

/// What to do about an instance's rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Step {
    /// Nothing, until something changes.
    Rest,
    /// Nothing yet.
    Wait(Instant),
    /// Ask the node for this rate.
    Set(Hertz),
}

/// Demand as tools see it, in hertz.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Followed {
    /// Between which rates.
    pub range: DemandRange,
    /// What the readers ask for now, within that.
    pub asked: Hertz,
}

impl Demand {
    pub(crate) fn new(
        topic: TopicId,
        range: Option<DemandRange>,
        start: mpsc::UnboundedSender<TopicId>,
    ) -> Arc<Self> {
        let held = Mutex::new(Held { range, ..Held::default() });
        Arc::new(Self { topic, held, changed: Notify::new(), start })
    }

    /// One more reader, with this delivery.
    pub(crate) fn ask(self: &Arc<Self>, delivery: Delivery) -> Asking {
        let wanted = Wanted::from(delivery);
        self.change(|asked| *asked.entry(wanted).or_default() += 1);
        Asking { demand: self.clone(), wanted }
    }

    /// What is followed, if demand has a say.
    pub fn followed(&self) -> Option<Followed> {
        let held = self.held();
        held.range.map(|range| Followed { range, asked: held.asked(range) })
    }

    /// Gives demand a say, or takes it away. Returns what it had.
    pub(crate) fn follow(&self, range: Option<DemandRange>) -> Option<DemandRange> {
        let mut held = self.held();
        let before = std::mem::replace(&mut held.range, range);
        held.fall = None;
        self.tell(&mut held);
        before
    }

    /// Has the instance's rate looked at: its node has come, perhaps with another one.
    pub(crate) fn look(&self) {
        self.tell(&mut self.held());
    }

    /// Returns when something has changed since the last return.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// What to do now that the rate is `actual`. After [`Step::Rest`] nobody steers any more.
    pub(crate) fn step(&self, actual: Option<Hertz>, now: Instant) -> Step {
        let mut held = self.held();
        let step = held.step(actual, now);
        held.is_steered = step != Step::Rest;
        step
    }

    fn change(&self, change: impl FnOnce(&mut BTreeMap<Wanted, u32>)) {
        let mut held = self.held();
        let before = held.most();
        change(&mut held.asked);
        if held.most() == before {
            return;
        }
        if let Some(range) = held.range {
            let asked = held.asked(range);
            if let Some(fall) = &mut held.fall
                && fall.to < asked
            {
                fall.to = asked;
            }
        }
        self.tell(&mut held);
    }

    fn tell(&self, held: &mut Held) {
        if held.is_steered {
            self.changed.notify_one();
        } else if held.range.is_some() {
            // A DAC without a runtime has nobody who would steer.
            held.is_steered = self.start.send(self.topic).is_ok();
        }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn most(&self) -> Option<Wanted> {
        self.asked.last_key_value().map(|(wanted, _)| *wanted)
    }

    fn asked(&self, range: DemandRange) -> Hertz {
        range.nearest(self.most().map_or(0.0, |Wanted(bits)| f64::from_bits(bits)))
    }

    fn step(&mut self, actual: Option<Hertz>, now: Instant) -> Step {
        let (Some(range), Some(actual)) = (self.range, actual) else {
            self.fall = None;
            return Step::Rest;
        };
        let asked = self.asked(range);
        if asked >= actual {
            self.fall = None;
            return if asked == actual { Step::Rest } else { Step::Set(asked) };
        }
        match self.fall {
            Some(fall) if now < fall.at => Step::Wait(fall.at),
            // Somebody who asked for all of it came and went meanwhile: its pause begins now.
            Some(fall) if fall.to < actual => {
                self.fall = None;
                Step::Set(fall.to)
            }
            _ => {
                let at = now + PAUSE;
                self.fall = Some(Fall { at, to: asked });
                Step::Wait(at)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hertz(hertz: f64) -> Hertz {
        Hertz::new(hertz).unwrap()
    }

    fn range() -> DemandRange {
        DemandRange::new(hertz(1.0), hertz(100.0)).unwrap()
    }

    fn demand() -> (Arc<Demand>, mpsc::UnboundedReceiver<TopicId>) {
        let (start, started) = mpsc::unbounded_channel();
        (Demand::new(TopicId(1), Some(range()), start), started)
    }

    fn asked(demand: &Demand) -> f64 {
        demand.followed().unwrap().asked.get()
    }

    #[test]
    fn the_highest_rate_that_is_asked_for_counts_within_the_range() {
        let (demand, _started) = demand();
        assert_eq!(asked(&demand), 1.0);
        let slow = demand.ask(Delivery::MaxHz(hertz(0.1)));
        assert_eq!(asked(&demand), 1.0);
        let (some, same) =
            (demand.ask(Delivery::MaxHz(hertz(20.0))), demand.ask(Delivery::MaxHz(hertz(20.0))));
        let fast = demand.ask(Delivery::MaxHz(hertz(500.0)));
        assert_eq!(asked(&demand), 100.0);
        drop(fast);
        drop(some);
        assert_eq!(asked(&demand), 20.0);
        drop(same);
        drop(slow);
        assert_eq!(asked(&demand), 1.0);
        for delivery in [Delivery::Every, Delivery::Latest, Delivery::Envelope(hertz(2.0))] {
            let _asking = demand.ask(delivery);
            assert_eq!(asked(&demand), 100.0, "{delivery}");
        }
    }

    #[test]
    fn a_reader_costs_sixteen_bytes() {
        assert_eq!(size_of::<Asking>(), 16);
    }

    #[test]
    fn a_rate_rises_at_once_and_falls_after_a_pause() {
        let (demand, _started) = demand();
        let start = Instant::now();
        let every = demand.ask(Delivery::Every);
        assert_eq!(demand.step(Some(hertz(1.0)), start), Step::Set(hertz(100.0)));
        assert_eq!(demand.step(Some(hertz(100.0)), start), Step::Rest);
        drop(every);
        assert_eq!(demand.step(Some(hertz(100.0)), start), Step::Wait(start + PAUSE));
        assert_eq!(demand.step(Some(hertz(100.0)), start + PAUSE), Step::Set(hertz(1.0)));
        assert_eq!(demand.step(Some(hertz(1.0)), start + PAUSE), Step::Rest);
    }

    #[test]
    fn who_comes_back_within_the_pause_finds_the_rate_as_it_was() {
        let (demand, _started) = demand();
        let start = Instant::now();
        assert_eq!(demand.step(Some(hertz(100.0)), start), Step::Wait(start + PAUSE));
        let back = demand.ask(Delivery::Every);
        assert_eq!(demand.step(Some(hertz(100.0)), start + PAUSE), Step::Rest);
        drop(back);
        assert_eq!(demand.step(Some(hertz(100.0)), start + PAUSE), Step::Wait(start + 2 * PAUSE));
        // Came and went before anybody looked.
        drop(demand.ask(Delivery::Every));
        assert_eq!(demand.step(Some(hertz(100.0)), start + 2 * PAUSE), Step::Wait(start + 3 * PAUSE));
    }

    #[test]
    fn a_rate_falls_in_two_pauses_whatever_comes_and_goes() {
        let (demand, _started) = demand();
        let start = Instant::now();
        let step = |actual: f64, pauses: f64| {
            let now = start + PAUSE.mul_f64(pauses);
            demand.step(Some(hertz(actual)), now)
        };
        assert!(matches!(step(100.0, 0.0), Step::Wait(_)));
        drop(demand.ask(Delivery::MaxHz(hertz(50.0))));
        assert_eq!(step(100.0, 1.0), Step::Set(hertz(50.0)));
        assert_eq!(step(50.0, 1.0), Step::Wait(start + 2 * PAUSE));
        drop(demand.ask(Delivery::MaxHz(hertz(2.0))));
        assert_eq!(step(50.0, 2.0), Step::Set(hertz(2.0)));
        assert!(2 * PAUSE < Duration::from_secs(2));
    }

    #[test]
    fn demand_without_a_say_asks_for_nothing_and_still_counts() {
        let (demand, mut started) = demand();
        assert_eq!(demand.follow(None), Some(range()));
        let _every = demand.ask(Delivery::Every);
        assert_eq!(demand.step(Some(hertz(1.0)), Instant::now()), Step::Rest);
        assert_eq!((demand.followed(), started.try_recv().is_err()), (None, true));
        demand.follow(Some(range()));
        assert_eq!((asked(&demand), started.try_recv()), (100.0, Ok(TopicId(1))));
    }

    #[test]
    fn one_task_is_started_until_it_rests() {
        let (demand, mut started) = demand();
        let every = demand.ask(Delivery::Every);
        assert_eq!(started.try_recv(), Ok(TopicId(1)));
        drop(every);
        assert!(started.try_recv().is_err());
        assert_eq!(demand.step(Some(hertz(1.0)), Instant::now()), Step::Rest);
        let _every = demand.ask(Delivery::Every);
        assert_eq!(started.try_recv(), Ok(TopicId(1)));
    }
}
