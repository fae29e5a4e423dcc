//! The past of topics, for subscriptions that need samples that the logs have evicted.
//!
//! A shard never waits for a disk: tasks of the runtime read, and post whole messages to the shard's inbox. Each connection has at most one piece that is being
//! read or waits. Its subscriptions take turns. The piece is written when the socket has room, and only then is the next one requested.

use super::{
    connection::{ConnectionId, Subscription},
    end::End,
    inbox::Event,
    messages::Answer,
    past_state::{Reading, RenderedPart, RenderedResult, Stage, Task},
    shard::Shard,
};
use crate::{
    past::{ArchiveAccess, Fetcher, NextStep, Source},
    view::Integers,
};
use oasis_dac::Instance;
use oasis_wire::quantity::{Position, TopicId};
use serde_json::json;
use std::{mem, sync::Arc};

impl Subscription {
    /// Whether it may show samples before their turn: its request is answered, and it has no end.
    pub(super) fn may_show_ahead(&self) -> bool {
        self.past.as_ref().is_none_or(|past| past.request.is_none() && past.until.is_none())
    }

    /// Whether its samples do not come from the log yet.
    pub fn is_in_the_past(&self) -> bool {
        self.past.as_ref().is_some_and(|past| past.stage.is_some())
    }

    /// Samples of this time and later are not wanted.
    pub fn until(&self) -> Option<u64> {
        self.past.as_ref()?.until
    }

    /// Switches from the log to the archive, because the log has evicted the next sample. Returns false if the archive does not have it either.
    pub fn go_back(&mut self, instance: &Instance, archived: &ArchiveAccess) -> bool {
        let missing = self.past.as_ref().and_then(|past| past.missing);
        if missing == Some(self.next) || !archived.serves(self.options) {
            return false;
        }
        let at = Position { epoch: instance.log.epoch(), offset: self.next };
        self.past.get_or_insert_default().stage = Some(Stage::Next(Source::from_position(at)));
        true
    }

    /// Switches to the log.
    fn join(&mut self, at: Position, is_missing: bool) {
        self.next = at.offset;
        let Some(past) = &mut self.past else { return };
        past.stage = None;
        past.missing = is_missing.then_some(at.offset);
        if past.until.is_none() && past.missing.is_none() {
            self.past = None;
        }
    }

    /// Takes the next source to read, unless a read is under way.
    fn take_source(&mut self) -> Option<Source> {
        let stage = self.past.as_mut()?.stage.as_mut()?;
        match mem::replace(stage, Stage::UnderWay) {
            Stage::Next(source) => Some(source),
            Stage::UnderWay => None,
        }
    }
}

async fn read(fetcher: Fetcher, source: Source, has_gaps: bool) -> RenderedResult {
    let topic = fetcher.instance.topic;
    match fetcher.fetch(source).await {
        Ok(fetched) => Ok(RenderedPart::new(topic, has_gaps, fetched)),
        Err(error) => {
            tracing::error!(%error, "the archive cannot be read");
            Err(error.to_string())
        }
    }
}

fn fetcher(instance: &Arc<Instance>, until: Option<u64>, archived: &ArchiveAccess) -> Fetcher {
    let mut points_head = serde_json::Map::new();
    points_head.insert("op".into(), "points".into());
    points_head.insert("topic".into(), json!(instance.topic));
    Fetcher {
        archived: archived.clone(),
        instance: instance.clone(),
        until,
        // The type came with `subscribed`.
        has_type: true,
        points_head,
        integers: Integers::Number,
    }
}

impl Shard {
    /// Starts to read a piece of the past for the next subscription, unless a read is under way.
    pub(super) fn read_past(&mut self, key: usize) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        // A shard that hands over its connections leaves their past to the next one.
        if self.is_leaving || connection.reading.is_some() || connection.is_leaving() {
            return;
        }
        let mut wanted = connection.subscriptions.iter_mut();
        let found = wanted.find_map(|subscription| Some((subscription.take_source()?, subscription)));
        let Some((source, subscription)) = found else { return };
        let (slot, until, has_gaps) = (subscription.topic, subscription.until(), subscription.has_gaps);
        let Some(topic) = self.topics.get(slot) else { return };
        self.next_serial += 1;
        let (serial, inbox) = (self.next_serial, self.inbox.clone());
        let id = ConnectionId { key, serial: connection.serial };
        let fetcher = fetcher(&topic.instance, until, &self.around.archived);
        let task = self.around.runtime.spawn(async move {
            let piece = Box::new(read(fetcher, source, has_gaps).await);
            inbox.post(Event::Past { connection: id, serial, piece });
        });
        let reading = Reading { topic: slot, serial, piece: None, _task: Task(task.abort_handle()) };
        connection.reading = Some(Box::new(reading));
    }

    /// Receives a piece of the past. Drops it if its reader is gone.
    pub(super) fn past_read(&mut self, id: ConnectionId, serial: u64, piece: RenderedResult) {
        let reading = self.same(id).and_then(|connection| connection.reading.as_mut());
        if let Some(reading) = reading.filter(|reading| reading.serial == serial) {
            reading.piece = Some(piece);
            self.enqueue(id.key);
        }
    }

    /// Writes the waiting piece, if there is one and the socket has room, and requests the next one.
    pub(super) fn push_past(&mut self, key: usize) -> Result<(), End> {
        let Some(connection) = self.connections.get_mut(key).filter(|connection| connection.is_open()) else {
            return Ok(());
        };
        let is_there = |reading: &mut Box<Reading>| reading.piece.is_some();
        let Some(reading) = connection.reading.take_if(is_there) else { return Ok(()) };
        let Reading { topic: slot, piece: Some(piece), .. } = *reading else { return Ok(()) };
        let subscriptions = &mut connection.subscriptions;
        if let Some(index) = subscriptions.iter().position(|subscription| subscription.topic == slot) {
            // The other subscriptions are next.
            subscriptions.rotate_left(index + 1);
            self.write_past(key, slot, piece)?;
        }
        self.read_past(key);
        Ok(())
    }

    /// Writes a piece to the last one of a connection's subscriptions.
    fn write_past(&mut self, key: usize, slot: usize, piece: RenderedResult) -> Result<(), End> {
        let Some(instance) = self.topics.get(slot).map(|topic| topic.instance.clone()) else { return Ok(()) };
        let Some(connection) = self.connections.get_mut(key) else { return Ok(()) };
        let Some(subscription) = connection.subscriptions.last_mut() else { return Ok(()) };
        let request = subscription.past.as_mut().and_then(|past| past.request.take());
        let RenderedPart { begin, messages, then } = match piece {
            Ok(rendered) => rendered,
            Err(error) => return self.give_up(key, instance.topic, request, error),
        };
        let mut is_over = false;
        match then {
            NextStep::Past(source) => {
                subscription.past.get_or_insert_default().stage = Some(Stage::Next(source));
            }
            NextStep::Log { at, is_missing } => subscription.join(at, is_missing),
            NextStep::Over => is_over = true,
        }
        if let Some(id) = request {
            self.say_subscribed(key, id, &instance, begin)?;
        }
        if let Some(connection) = self.connections.get_mut(key) {
            connection.write_shared(messages)?;
        }
        self.enqueue(key);
        if is_over { self.finish(key, instance.topic, "to") } else { Ok(()) }
    }

    /// The archive cannot be read.
    fn give_up(
        &mut self,
        key: usize,
        topic: TopicId,
        request: Option<i64>,
        error: String,
    ) -> Result<(), End> {
        match request {
            Some(id) => {
                self.unsubscribe(key, topic);
                self.answer(key, &Answer::error(id, "archive_error", error))
            }
            None => self.finish(key, topic, "archive_error"),
        }
    }
}
