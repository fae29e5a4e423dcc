//! The sampling rate of a probe that follows the demand of its readers.
//!
//! Only the arithmetic, without tasks and commands: the rates that readers ask for ([`DemandGuard`]), the resulting
//! rate, and the next action ([`Step`]). `steering` executes it. Of a relayed instance the [upstream](crate::Upstream)
//! receives the demand of readers, and no rate is set here.

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

/// Time that a rate stays after its last reader has left: longer than a page takes to reload. A rate falls at most
/// twice: to the highest rate requested during the pause, then to the current one. Both take less than the 2 s that
/// docs/reference/data-channel.md promises.
const HOLD_TIME: Duration = Duration::from_millis(750);

/// The rates that the readers of one instance ask for.
#[derive(Debug)]
pub struct Demand {
    topic: TopicId,
    /// Guards all state; locked for arithmetic only. Appends never lock it.
    inner: Mutex<Inner>,
    /// Notifies the task that steers.
    changed: Notify,
}

#[derive(Debug)]
struct Inner {
    /// None while demand is off.
    range: Option<DemandRange>,
    /// Number of readers for each requested rate.
    asked: BTreeMap<RequestedRate, u32>,
    /// Present while the rate is higher than requested.
    fall: Option<Fall>,
    /// True while a task runs, or is about to start; of a relayed instance, while a message is pending.
    is_steered: bool,
    /// Whether an upstream has the instance.
    is_relayed: bool,
    /// Requests a task, or tells the upstream of a change; at most one message is pending for each instance.
    start: mpsc::UnboundedSender<TopicId>,
}

#[derive(Debug, Clone, Copy)]
struct Fall {
    at: Instant,
    /// The highest rate requested since the pause began.
    to: Hertz,
}

/// A requested rate, as the bits of its hertz. These are ordered like the rate, because it is never negative.
/// Infinite for the highest rate of the probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct RequestedRate(u64);

impl From<Delivery> for RequestedRate {
    fn from(delivery: Delivery) -> Self {
        match delivery {
            Delivery::MaxHz(hertz) => Self(hertz.get().to_bits()),
            // Minimum and maximum of a period are more accurate with more samples.
            Delivery::Every | Delivery::Latest | Delivery::Envelope(_) => Self(f64::INFINITY.to_bits()),
        }
    }
}

/// Demand of the readers of a relayed instance, for its upstream.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum UpstreamDemand {
    /// There are none.
    Nothing,
    /// Every sample, at this rate if the probe follows demand.
    Rate(Hertz),
    /// Every sample, at the highest rate.
    Everything,
}

impl UpstreamDemand {
    fn from_hertz(hertz: f64) -> Self {
        Hertz::new(hertz).map_or(Self::Everything, Self::Rate)
    }
}

/// Keeps a reader's requested rate in force until it is dropped.
#[derive(Debug)]
pub struct DemandGuard {
    demand: Arc<Demand>,
    wanted: RequestedRate,
}

impl Drop for DemandGuard {
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

/// The next action on an instance's rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Step {
    /// Do nothing until something changes.
    Rest,
    /// Wait until then.
    Wait(Instant),
    /// Send the node this rate.
    Set(Hertz),
}

/// Demand as clients see it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DemandState {
    /// The allowed range of rates.
    pub range: DemandRange,
    /// The rate that readers ask for now, within that range.
    pub asked: Hertz,
}

impl Demand {
    pub(crate) fn new(
        topic: TopicId,
        range: Option<DemandRange>,
        start: mpsc::UnboundedSender<TopicId>,
    ) -> Arc<Self> {
        let inner = Mutex::new(Inner {
            range,
            asked: BTreeMap::new(),
            fall: None,
            is_steered: false,
            is_relayed: false,
            start,
        });
        Arc::new(Self { topic, inner, changed: Notify::new() })
    }

    /// Tells an upstream from now on when what readers want has changed, and that it may have changed now.
    pub(crate) fn relay_to(&self, start: mpsc::UnboundedSender<TopicId>) {
        let mut inner = self.lock();
        (inner.start, inner.is_relayed, inner.is_steered, inner.fall) = (start, true, false, None);
        self.notify(&mut inner);
    }

    /// Returns whether an upstream has the instance.
    pub(crate) fn is_relayed(&self) -> bool {
        self.lock().is_relayed
    }

    /// Returns whether there are readers.
    pub fn has_readers(&self) -> bool {
        self.lock().highest().is_some()
    }

    /// Returns the demand of the readers of a relayed instance. Each later change is notified once more.
    pub(crate) fn take_wanted(&self) -> UpstreamDemand {
        let mut inner = self.lock();
        inner.is_steered = false;
        match inner.highest() {
            None => UpstreamDemand::Nothing,
            Some(RequestedRate(bits)) => UpstreamDemand::from_hertz(f64::from_bits(bits)),
        }
    }

    /// Registers a reader with this delivery.
    pub(crate) fn register(self: &Arc<Self>, delivery: Delivery) -> DemandGuard {
        let wanted = RequestedRate::from(delivery);
        self.change(|asked| *asked.entry(wanted).or_default() += 1);
        DemandGuard { demand: self.clone(), wanted }
    }

    /// Returns the state of demand, or `None` while it is off.
    pub fn state(&self) -> Option<DemandState> {
        let inner = self.lock();
        inner.range.map(|range| DemandState { range, asked: inner.asked(range) })
    }

    /// Sets the range, or turns demand off. Returns the previous range.
    pub(crate) fn set_range(&self, range: Option<DemandRange>) -> Option<DemandRange> {
        let mut inner = self.lock();
        let before = std::mem::replace(&mut inner.range, range);
        inner.fall = None;
        self.notify(&mut inner);
        before
    }

    /// Rechecks the instance's rate: its node has connected, perhaps with another one.
    pub(crate) fn recheck(&self) {
        self.notify(&mut self.lock());
    }

    /// Returns when something has changed since the last return.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Returns the next action while the rate is `actual`. The task must end after [`Step::Rest`].
    pub(crate) fn step(&self, actual: Option<Hertz>, now: Instant) -> Step {
        let mut inner = self.lock();
        let step = inner.step(actual, now);
        inner.is_steered = step != Step::Rest;
        step
    }

    fn change(&self, change: impl FnOnce(&mut BTreeMap<RequestedRate, u32>)) {
        let mut inner = self.lock();
        let before = inner.highest();
        change(&mut inner.asked);
        if inner.highest() == before {
            return;
        }
        if let Some(range) = inner.range {
            let asked = inner.asked(range);
            if let Some(fall) = &mut inner.fall
                && fall.to < asked
            {
                fall.to = asked;
            }
        }
        self.notify(&mut inner);
    }

    fn notify(&self, inner: &mut Inner) {
        if inner.is_steered {
            self.changed.notify_one();
        } else if inner.range.is_some() || inner.is_relayed {
            // Fails in a DAC without a runtime, which has no steering task.
            inner.is_steered = inner.start.send(self.topic).is_ok();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn highest(&self) -> Option<RequestedRate> {
        self.asked.last_key_value().map(|(wanted, _)| *wanted)
    }

    fn asked(&self, range: DemandRange) -> Hertz {
        range.nearest(self.highest().map_or(0.0, |RequestedRate(bits)| f64::from_bits(bits)))
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
            // A reader asked for the full rate and left meanwhile: its pause begins now.
            Some(fall) if fall.to < actual => {
                self.fall = None;
                Step::Set(fall.to)
            }
            _ => {
                let at = now + HOLD_TIME;
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
        demand.state().unwrap().asked.get()
    }

    #[test]
    fn the_highest_requested_rate_counts_within_the_range() {
        let (demand, _started) = demand();
        assert_eq!(asked(&demand), 1.0);
        let slow = demand.register(Delivery::MaxHz(hertz(0.1)));
        assert_eq!(asked(&demand), 1.0);
        let (some, same) =
            (demand.register(Delivery::MaxHz(hertz(20.0))), demand.register(Delivery::MaxHz(hertz(20.0))));
        let fast = demand.register(Delivery::MaxHz(hertz(500.0)));
        assert_eq!(asked(&demand), 100.0);
        drop(fast);
        drop(some);
        assert_eq!(asked(&demand), 20.0);
        drop(same);
        drop(slow);
        assert_eq!(asked(&demand), 1.0);
        for delivery in [Delivery::Every, Delivery::Latest, Delivery::Envelope(hertz(2.0))] {
            let _asking = demand.register(delivery);
            assert_eq!(asked(&demand), 100.0, "{delivery}");
        }
    }

    #[test]
    fn a_reader_costs_sixteen_bytes() {
        assert_eq!(size_of::<DemandGuard>(), 16);
    }

    #[test]
    fn a_rate_rises_at_once_and_falls_after_a_pause() {
        let (demand, _started) = demand();
        let start = Instant::now();
        let every = demand.register(Delivery::Every);
        assert_eq!(demand.step(Some(hertz(1.0)), start), Step::Set(hertz(100.0)));
        assert_eq!(demand.step(Some(hertz(100.0)), start), Step::Rest);
        drop(every);
        assert_eq!(demand.step(Some(hertz(100.0)), start), Step::Wait(start + HOLD_TIME));
        assert_eq!(demand.step(Some(hertz(100.0)), start + HOLD_TIME), Step::Set(hertz(1.0)));
        assert_eq!(demand.step(Some(hertz(1.0)), start + HOLD_TIME), Step::Rest);
    }

    #[test]
    fn a_reader_that_returns_within_the_pause_finds_the_rate_unchanged() {
        let (demand, _started) = demand();
        let start = Instant::now();
        assert_eq!(demand.step(Some(hertz(100.0)), start), Step::Wait(start + HOLD_TIME));
        let back = demand.register(Delivery::Every);
        assert_eq!(demand.step(Some(hertz(100.0)), start + HOLD_TIME), Step::Rest);
        drop(back);
        assert_eq!(demand.step(Some(hertz(100.0)), start + HOLD_TIME), Step::Wait(start + 2 * HOLD_TIME));
        // Came and left before the next step.
        drop(demand.register(Delivery::Every));
        assert_eq!(demand.step(Some(hertz(100.0)), start + 2 * HOLD_TIME), Step::Wait(start + 3 * HOLD_TIME));
    }

    #[test]
    fn a_rate_falls_within_two_pauses_whatever_readers_do() {
        let (demand, _started) = demand();
        let start = Instant::now();
        let step = |actual: f64, pauses: f64| {
            let now = start + HOLD_TIME.mul_f64(pauses);
            demand.step(Some(hertz(actual)), now)
        };
        assert!(matches!(step(100.0, 0.0), Step::Wait(_)));
        drop(demand.register(Delivery::MaxHz(hertz(50.0))));
        assert_eq!(step(100.0, 1.0), Step::Set(hertz(50.0)));
        assert_eq!(step(50.0, 1.0), Step::Wait(start + 2 * HOLD_TIME));
        drop(demand.register(Delivery::MaxHz(hertz(2.0))));
        assert_eq!(step(50.0, 2.0), Step::Set(hertz(2.0)));
        assert!(2 * HOLD_TIME < Duration::from_secs(2));
    }

    #[test]
    fn demand_that_is_off_sets_no_rate_but_still_counts_readers() {
        let (demand, mut started) = demand();
        assert_eq!(demand.set_range(None), Some(range()));
        let _every = demand.register(Delivery::Every);
        assert_eq!(demand.step(Some(hertz(1.0)), Instant::now()), Step::Rest);
        assert_eq!((demand.state(), started.try_recv().is_err()), (None, true));
        demand.set_range(Some(range()));
        assert_eq!((asked(&demand), started.try_recv()), (100.0, Ok(TopicId(1))));
    }

    #[test]
    fn an_upstream_is_told_once_of_each_change_until_it_has_looked() {
        let (demand, _started) = demand();
        let (start, mut told) = mpsc::unbounded_channel();
        demand.relay_to(start);
        assert_eq!((told.try_recv(), demand.take_wanted()), (Ok(TopicId(1)), UpstreamDemand::Nothing));
        let slow = demand.register(Delivery::MaxHz(hertz(2.0)));
        let every = demand.register(Delivery::Every);
        assert_eq!((told.try_recv(), told.try_recv().is_err()), (Ok(TopicId(1)), true));
        assert_eq!(demand.take_wanted(), UpstreamDemand::Everything);
        drop(every);
        assert_eq!(
            (told.try_recv(), demand.take_wanted()),
            (Ok(TopicId(1)), UpstreamDemand::Rate(hertz(2.0)))
        );
        let _another = demand.register(Delivery::MaxHz(hertz(1.0)));
        assert!(told.try_recv().is_err(), "the highest rate is the same");
        drop(slow);
        assert_eq!(
            (told.try_recv(), demand.take_wanted()),
            (Ok(TopicId(1)), UpstreamDemand::Rate(hertz(1.0)))
        );
    }

    #[test]
    fn one_task_is_started_until_it_rests() {
        let (demand, mut started) = demand();
        let every = demand.register(Delivery::Every);
        assert_eq!(started.try_recv(), Ok(TopicId(1)));
        drop(every);
        assert!(started.try_recv().is_err());
        assert_eq!(demand.step(Some(hertz(1.0)), Instant::now()), Step::Rest);
        let _every = demand.register(Delivery::Every);
        assert_eq!(started.try_recv(), Ok(TopicId(1)));
    }
}
