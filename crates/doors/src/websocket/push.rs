//! Subscriptions of a shard, and the rounds in which it writes to them.

use super::{
    client::EisaClient,
    connection::{AHEAD_UNWANTED, Protocol, Subscription},
    end::End,
    inbox::TopicWaker,
    past_state::PastState,
    shard::Shard,
    topic::{Format, Topic},
};
use crate::past::times::has_passed;
use bytes::Bytes;
use oasis_dac::{Delivery, Instance, Options, StartAt};
use oasis_wire::quantity::{Offset, TopicId};
use std::{mem, sync::Arc, time::Instant};

/// Bytes written to a socket in one round. A connection that lags more continues in the next rounds, after the others.
pub(super) const WRITE: usize = 64 * 1024;

impl Shard {
    /// Adds a subscription, which asks for the rate of a delivery, and perhaps for what is missing before batches; answers where it begins and whether the position belonged to another epoch. One that has a past begins with that.
    pub(super) fn subscribe(
        &mut self,
        key: usize,
        instance: Arc<Instance>,
        from: StartAt,
        (options, asked, has_gaps): (Options, Delivery, bool),
        past: Option<Box<PastState>>,
    ) -> Option<(Offset, bool)> {
        self.connections.get(key)?;
        let (topic, place) = self.add_reader(key, &instance)?;
        let connection = self.connections.get_mut(key)?;
        // The topic already reports appends, so none is missed from here on.
        let (next, epoch_changed) = instance.start(from, options.delivery);
        connection.subscriptions.reserve_exact(1);
        let asking = instance.register_demand(asked);
        let options = instance.options_from(from, options);
        let ahead = AHEAD_UNWANTED;
        let subscription = Subscription { topic, place, next, options, past, ahead, has_gaps, asking };
        connection.subscriptions.push(subscription);
        self.enqueue(key);
        self.read_past(key);
        Some((next, epoch_changed))
    }

    /// Lets a subscription show samples before their turn from now on.
    pub(super) fn show_ahead(&mut self, key: usize, topic: TopicId) {
        let slot = self.slots.get(&topic).copied();
        let Some(connection) = self.connections.get_mut(key) else { return };
        let subscriptions = connection.subscriptions.iter_mut();
        subscriptions.filter(|known| Some(known.topic) == slot).for_each(|known| known.ahead = 0);
    }

    /// Adds a connection to the readers of a topic. Returns the topic's slot, and the place among its readers.
    pub(super) fn add_reader(&mut self, key: usize, instance: &Arc<Instance>) -> Option<(usize, usize)> {
        let topics = &mut self.topics;
        let slot = *self.slots.entry(instance.topic).or_insert_with(|| {
            let entry = topics.vacant_entry();
            let slot = entry.key();
            entry.insert(Topic::new(instance.clone(), TopicWaker::new(self.inbox.clone(), slot)));
            slot
        });
        let topic = topics.get_mut(slot)?;
        topic.readers.push(key);
        Some((slot, topic.readers.len() - 1))
    }

    /// Whether the connection reads this topic.
    pub(super) fn reads(&self, key: usize, topic: TopicId) -> bool {
        let slot = self.slots.get(&topic);
        self.connections.get(key).is_some_and(|connection| {
            connection.subscriptions.iter().any(|subscription| Some(&subscription.topic) == slot)
        })
    }

    /// Ends a subscription, if it exists.
    pub(super) fn unsubscribe(&mut self, key: usize, topic: TopicId) -> Option<Subscription> {
        let slot = *self.slots.get(&topic)?;
        let connection = self.connections.get_mut(key)?;
        let index = connection.subscriptions.iter().position(|subscription| subscription.topic == slot)?;
        let subscription = connection.subscriptions.swap_remove(index);
        connection.reading.take_if(|reading| reading.topic == slot);
        self.forget_reader(&subscription);
        self.read_past(key);
        Some(subscription)
    }

    pub(super) fn forget_reader(&mut self, subscription: &Subscription) {
        let Some(topic) = self.topics.get_mut(subscription.topic) else { return };
        topic.readers.swap_remove(subscription.place);
        if let Some(&moved) = topic.readers.get(subscription.place)
            && let Some(connection) = self.connections.get_mut(moved)
            && let Some(moved) =
                connection.subscriptions.iter_mut().find(|moved| moved.topic == subscription.topic)
        {
            moved.place = subscription.place;
        }
        if topic.readers.is_empty() {
            self.slots.remove(&topic.instance.topic);
            self.topics.remove(subscription.topic);
        }
    }

    /// Has the connection written to in the next round.
    pub(super) fn enqueue(&mut self, key: usize) {
        if let Some(connection) = self.connections.get_mut(key)
            && !mem::replace(&mut connection.is_queued, true)
        {
            self.queue.push(key);
        }
    }

    /// Writes to all connections that may lag, if it is time.
    pub(super) fn round(&mut self) {
        let began = Instant::now();
        if (self.raised.is_empty() && self.queue.is_empty()) || !self.pace.wait(began).is_zero() {
            return;
        }
        let raised = mem::take(&mut self.raised);
        for &(slot, _) in &raised {
            let Some(topic) = self.topics.get(slot) else { continue };
            topic.lower_waker();
            for &key in &topic.readers {
                if let Some(connection) = self.connections.get_mut(key)
                    && !mem::replace(&mut connection.is_queued, true)
                {
                    self.queue.push(key);
                }
            }
        }
        for key in mem::take(&mut self.queue) {
            let outcome = self.push(key);
            self.settle(key, outcome);
        }
        for slot in mem::take(&mut self.served) {
            if let Some(topic) = self.topics.get_mut(slot) {
                topic.forget_bursts();
            }
        }
        let ended = Instant::now();
        for (_, ready) in raised {
            self.home.meter.delivered(ended.saturating_duration_since(ready));
        }
        self.pace.rest(began, ended);
    }

    /// Writes unread samples of all topics of a connection in one write, up to a bound.
    fn push(&mut self, key: usize) -> Result<(), End> {
        let Some(connection) = self.connections.get_mut(key) else { return Ok(()) };
        connection.is_queued = false;
        if !connection.is_open() {
            return Ok(());
        }
        let format = match connection.protocol {
            Protocol::Native(_) => Format::Native,
            Protocol::Eisa(EisaClient { is_packed: true, .. }) => Format::PackedEisa,
            Protocol::Eisa(_) => Format::Eisa,
        };
        let (mut pieces, mut room, mut lags, mut is_late) = (Vec::new(), WRITE, false, false);
        let mut over: Vec<(TopicId, &'static str)> = Vec::new();
        for subscription in &mut connection.subscriptions {
            let Some(topic) = self.topics.get_mut(subscription.topic) else { continue };
            if room > 0
                && subscription.may_show_ahead()
                && let Some((version, message)) = topic.ahead(subscription.ahead)
            {
                self.served.push(subscription.topic);
                subscription.ahead = version;
                room = room.saturating_sub(message.len());
                pieces.push(message);
            }
            if subscription.is_in_the_past() {
                continue;
            }
            if room > 0 && subscription.next < topic.instance.log.next() {
                if topic.is_fresh() {
                    self.served.push(subscription.topic);
                }
                let place = (subscription.next, subscription.until());
                let format = if subscription.has_gaps { Format::NativeWithGaps } else { format };
                let burst = topic.burst(format, subscription.options, place, room);
                if burst.is_late
                    && format.is_native()
                    && subscription.go_back(&topic.instance, &self.around.archived)
                {
                    is_late = true;
                    continue;
                }
                room = room.saturating_sub(burst.bytes.len());
                subscription.next = burst.end;
                if burst.is_past_after {
                    // From now on it shares its bursts with all other readers.
                    (subscription.options.after, subscription.options.continues) = (None, None);
                }
                if !burst.bytes.is_empty() {
                    pieces.push(burst.bytes);
                }
                if let Some(cause) = burst.over {
                    over.push((topic.instance.topic, cause));
                    continue;
                }
            }
            if subscription.next < topic.instance.log.next() {
                lags = true;
            } else if topic.instance.ends_at(subscription.next) {
                over.push((topic.instance.topic, "type_changed"));
            } else if has_passed(subscription.until()) {
                over.push((topic.instance.topic, "to"));
            }
        }
        // A connection that lags more begins with another topic the next time.
        if lags && connection.subscriptions.len() > 1 {
            self.rotate(key);
        }
        self.write(key, &pieces)?;
        if is_late {
            self.read_past(key);
        }
        self.push_past(key)?;
        if lags {
            self.enqueue(key);
        }
        over.into_iter().try_for_each(|(topic, cause)| self.finish(key, topic, cause))
    }

    fn rotate(&mut self, key: usize) {
        if let Some(connection) = self.connections.get_mut(key) {
            connection.subscriptions.rotate_left(1);
        }
    }

    fn write(&mut self, key: usize, pieces: &[Bytes]) -> Result<(), End> {
        match self.connections.get_mut(key) {
            Some(connection) => connection.write(pieces),
            None => Ok(()),
        }
    }

    /// A subscription ends by itself: another topic has taken the place of this one, it was too late for its samples, or it has all that it wants.
    pub(super) fn finish(&mut self, key: usize, topic: TopicId, cause: &'static str) -> Result<(), End> {
        self.unsubscribe(key, topic);
        match self.connections.get(key).map(|connection| &connection.protocol) {
            Some(Protocol::Native(_)) => self.say_unsubscribed(key, topic, cause),
            _ => Ok(()),
        }
    }
}
