//! Which topics of an upstream have a subscription.

use oasis_dac::UpstreamDemand;
use oasis_wire::quantity::TopicId;
use std::{
    collections::{BTreeMap, HashMap},
    time::Duration,
};

/// Time that a subscription stays after the last reader: a poller that comes back finds it.
pub const LINGER: Duration = Duration::from_secs(10);

/// A subscription to change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Change {
    /// There is none yet.
    Subscribe(TopicId, UpstreamDemand),
    /// Its readers want another rate.
    Rate(TopicId, UpstreamDemand),
    /// Its readers have left.
    Unsubscribe(TopicId),
}

/// Demand of the readers of topics that have a subscription.
#[derive(Debug, Default)]
pub struct Interest {
    wanted: HashMap<TopicId, UpstreamDemand>,
    /// Topics without readers, by when their subscriptions end.
    idle: BTreeMap<(Duration, TopicId), ()>,
    idle_until: HashMap<TopicId, Duration>,
}

impl Interest {
    /// Readers of a topic want something. `now` is a steady clock.
    pub fn wants(&mut self, topic: TopicId, wanted: UpstreamDemand, now: Duration) -> Option<Change> {
        let before = self.wanted.get(&topic).copied();
        if wanted == UpstreamDemand::Nothing {
            if before.is_some() && !self.idle_until.contains_key(&topic) {
                let until = now + LINGER;
                self.idle_until.insert(topic, until);
                self.idle.insert((until, topic), ());
            }
            return None;
        }
        self.is_read(topic);
        self.wanted.insert(topic, wanted);
        match before {
            None => Some(Change::Subscribe(topic, wanted)),
            Some(before) if before != wanted => Some(Change::Rate(topic, wanted)),
            Some(_) => None,
        }
    }

    /// Returns the next subscription that has had no reader for [`LINGER`].
    pub fn expired(&mut self, now: Duration) -> Option<Change> {
        let (&(until, topic), ()) = self.idle.first_key_value()?;
        if until > now {
            return None;
        }
        self.ended(topic);
        Some(Change::Unsubscribe(topic))
    }

    /// The subscription of a topic has ended. Returns what its readers want, if there are any.
    pub fn ended(&mut self, topic: TopicId) -> Option<UpstreamDemand> {
        let is_idle = self.is_read(topic);
        self.wanted.remove(&topic).filter(|_| !is_idle)
    }

    /// Returns the topics that have a subscription.
    pub fn topics(&self) -> Vec<TopicId> {
        self.wanted.keys().copied().collect()
    }

    fn is_read(&mut self, topic: TopicId) -> bool {
        match self.idle_until.remove(&topic) {
            Some(until) => self.idle.remove(&(until, topic)).is_some(),
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oasis_wire::quantity::Hertz;

    const A: TopicId = TopicId(1);

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn rate(hertz: f64) -> UpstreamDemand {
        UpstreamDemand::Rate(Hertz::new(hertz).unwrap())
    }

    #[test]
    fn the_first_reader_subscribes_and_others_change_at_most_the_rate() {
        let mut interest = Interest::default();
        assert_eq!(interest.wants(A, rate(2.0), at(0)), Some(Change::Subscribe(A, rate(2.0))));
        assert_eq!(interest.wants(A, rate(2.0), at(0)), None);
        assert_eq!(
            interest.wants(A, UpstreamDemand::Everything, at(1)),
            Some(Change::Rate(A, UpstreamDemand::Everything))
        );
        assert_eq!(interest.topics(), [A]);
    }

    #[test]
    fn a_subscription_ends_some_time_after_the_last_reader() {
        let mut interest = Interest::default();
        assert_eq!(interest.wants(A, UpstreamDemand::Nothing, at(0)), None);
        interest.wants(A, UpstreamDemand::Everything, at(0));
        interest.wants(A, UpstreamDemand::Nothing, at(5));
        interest.wants(A, UpstreamDemand::Nothing, at(9));
        assert_eq!(interest.expired(at(14)), None);
        assert_eq!(interest.expired(at(15)), Some(Change::Unsubscribe(A)));
        assert_eq!((interest.expired(at(99)), interest.topics()), (None, vec![]));
    }

    #[test]
    fn a_reader_that_comes_back_keeps_the_subscription() {
        let mut interest = Interest::default();
        interest.wants(A, UpstreamDemand::Everything, at(0));
        interest.wants(A, UpstreamDemand::Nothing, at(1));
        assert_eq!(interest.wants(A, UpstreamDemand::Everything, at(2)), None);
        assert_eq!(interest.expired(at(100)), None);
        assert_eq!(interest.ended(A), Some(UpstreamDemand::Everything));
        interest.wants(A, UpstreamDemand::Everything, at(0));
        interest.wants(A, UpstreamDemand::Nothing, at(1));
        assert_eq!(interest.ended(A), None);
    }
}
