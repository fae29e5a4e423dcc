//! A process of a node: what it carries, and its connection.

use super::{BATCHES, DATAGRAM, FAREWELL, PING};
use crate::{
    network::{ConnectionId, Delivery, Side},
    shared::Shared,
};
use oasis_channel::{
    Backoff, DatagramOffer, NodeMessage, SafeWhen, TopicAssignment,
    frame::{Reader, ahead_header, batch_header, write_control},
};
use oasis_probe::simulation::{
    Announcement, BatchBuilder, Directory, Journal, MetDac, NewBatch, Outbox, Spooler,
};
use oasis_wire::{
    batch::Header,
    quantity::{Epoch, TopicId},
};
use std::{collections::VecDeque, path::PathBuf, sync::Arc, time::Instant};
use uuid::Uuid;

/// A process of a node.
pub struct Process {
    pub(super) run: Uuid,
    pub(super) builders: Vec<BatchBuilder>,
    /// Last sequence number of each instance.
    pub(super) taken: Vec<u64>,
    pub(super) live: Carrier,
    pub(super) directory: Option<Arc<Directory>>,
    pub(super) earlier: VecDeque<PathBuf>,
    pub(super) replay: Option<Carrier>,
    pub(super) link: Option<Link>,
    pub(super) backoff: Backoff,
    pub(super) refusals: u32,
    pub(super) is_closing: bool,
    /// Whether a DAC has registered its own run.
    pub(super) is_known: bool,
    pub(super) next_settle: u64,
}

impl std::fmt::Debug for Process {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Process").field("run", &self.run).field("taken", &self.taken).finish_non_exhaustive()
    }
}

/// Connection that carries the batches of one run.
#[derive(Debug)]
pub(super) struct Carrier {
    pub(super) announcement: Arc<Announcement>,
    pub(super) outbox: Arc<Outbox>,
    pub(super) spooler: Option<Spooler<Arc<Outbox>>>,
    /// The DAC at the last connection.
    pub(super) epoch: Option<Epoch>,
}

/// A connection.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) id: ConnectionId,
    pub(super) reader: Reader,
    pub(super) since: u64,
    pub(super) heard: u64,
    /// Its epoch, what makes samples safe, and whether it takes batches ahead.
    pub(super) dac: Option<(Epoch, Option<SafeWhen>, bool)>,
    pub(super) is_live: bool,
    pub(super) next_ping: u64,
    pub(super) farewell: Option<u64>,
    pub(super) has_left: bool,
    pub(super) offer: Option<DatagramOffer>,
    pub(super) has_announced: bool,
    pub(super) is_answered: bool,
}

impl Process {
    pub(super) fn carrier(&self) -> &Carrier {
        self.replay.as_ref().unwrap_or(&self.live)
    }

    /// Returns whether nothing is left to do for a process that ends.
    pub(super) fn has_ended(&self) -> bool {
        self.is_closing && self.link.as_ref().is_none_or(|link| link.has_left)
    }

    pub(super) fn deliver(&mut self, batches: Vec<NewBatch>, shared: &mut Shared) {
        for batch in &batches {
            let (instance, last) = (batch.instance, batch.first_sequence + u64::from(batch.count) - 1);
            if let Some(run) = shared.oracle.run(self.run) {
                run.instances[instance].spooled = last;
            }
        }
        self.live.outbox.with(|held| {
            for ((progress, builder), &taken) in held.progress.iter_mut().zip(&self.builders).zip(&self.taken)
            {
                (progress.taken, progress.missing) = (taken, builder.missing_to(taken));
            }
            batches.into_iter().for_each(|batch| held.spool.push(batch));
        });
    }

    /// Everything that the spool has is in the file too.
    pub(super) fn note_filed(&self, shared: &mut Shared) {
        if let Some(run) = shared.oracle.run(self.run) {
            run.instances.iter_mut().for_each(|taken| taken.in_file = taken.spooled);
        }
    }

    /// Opens the next earlier run, if none is being sent.
    pub(super) fn begin_replay(&mut self, spool_bytes: usize) -> anyhow::Result<()> {
        while self.replay.is_none()
            && !self.is_closing
            && let Some(path) = self.earlier.pop_front()
        {
            let Some(directory) = &self.directory else { continue };
            let Ok(journal) = Journal::earlier_run(directory.clone(), path.clone()) else { continue };
            let Some(journal) = journal else {
                // No head is readable.
                let _ = std::fs::remove_dir_all(path);
                continue;
            };
            let announcement = journal.head().announcement.clone();
            let outbox = Outbox::for_earlier_run(&journal, spool_bytes);
            let mut spooler = Spooler::new(outbox.clone(), journal);
            spooler.turn(Instant::now());
            self.backoff = Backoff::default();
            self.refusals = 0;
            self.replay = Some(Carrier { announcement, outbox, spooler: Some(spooler), epoch: None });
        }
        Ok(())
    }

    pub(super) fn end_replay(&mut self, shared: &mut Shared) {
        let Some(mut carrier) = self.replay.take() else { return };
        shared.note(format!("an earlier run is over, delivered: {}", carrier.is_sent()));
        carrier.outbox.with(|held| held.ended = true);
        if let Some(mut spooler) = carrier.spooler.take() {
            spooler.turn(Instant::now());
            spooler.settle();
            spooler.end();
        }
        self.refusals = 0;
    }

    pub(super) fn registered(&mut self, topics: &[TopicAssignment], shared: &mut Shared) {
        let now = shared.now;
        let Some((epoch, safe_when, takes_ahead)) = self.link.as_ref().and_then(|link| link.dac) else {
            return;
        };
        self.is_known |= self.replay.is_none();
        let carrier = self.replay.as_mut().unwrap_or(&mut self.live);
        let is_new = carrier.epoch.replace(epoch).is_some_and(|before| before != epoch);
        let instances = &carrier.announcement.instances;
        let index_of = |name: &str| instances.iter().position(|instance| instance.name == name);
        let topics: Vec<(usize, TopicId)> = topics
            .iter()
            .filter_map(|assigned| Some((index_of(&assigned.instance)?, assigned.topic)))
            .collect();
        let counters = carrier.outbox.with(|held| {
            held.spool.connected(topics.into_iter(), MetDac { is_new, safe_when, takes_ahead });
            held.has_waited = false;
            held.messages.clear();
            held.counters()
        });
        self.send(&[NodeMessage::Counters { instances: counters }], &[], shared);
        if let Some(link) = &mut self.link {
            (link.is_live, link.next_ping) = (true, now);
        }
    }

    /// Sends what there is, as the shipper does in one turn. Returns whether it has waited too long for the last samples.
    pub(super) fn ship(&mut self, shared: &mut Shared) -> bool {
        let now = shared.now;
        let Some(link) = &mut self.link else { return false };
        let carrier = self.replay.as_ref().unwrap_or(&self.live);
        let ping_due = now >= link.next_ping;
        let (ahead, control, batches, is_done, is_late) = carrier.outbox.with(|held| {
            let mut control: Vec<NodeMessage> = held.messages.drain(..).collect();
            let ahead: Vec<Vec<u8>> = std::iter::from_fn(|| held.spool.take_ahead()).collect();
            let shipment = held.spool.take(BATCHES, |_| true);
            let begins_to_close = held.closing && link.farewell.is_none();
            if held.is_ending() && (held.closing || held.spool.is_received()) {
                held.has_waited = now >= *link.farewell.get_or_insert(now + FAREWELL);
            }
            let is_done = held.is_ending() && held.is_sent();
            if shipment.tells_of_drops || ping_due || is_done || begins_to_close {
                control.push(NodeMessage::Counters { instances: held.counters() });
            }
            control.extend(shipment.releases.into_iter().map(NodeMessage::Release));
            (ahead, control, shipment.batches, is_done, held.closing && held.has_waited)
        });
        self.send_ahead(&ahead, shared);
        self.finish_turn(control, batches, is_done, ping_due, shared);
        is_late && !is_done
    }

    pub(super) fn finish_turn(
        &mut self,
        mut control: Vec<NodeMessage>,
        batches: Vec<Arc<Vec<u8>>>,
        is_done: bool,
        ping_due: bool,
        shared: &mut Shared,
    ) {
        if is_done {
            control.push(NodeMessage::Goodbye { reason: "shutdown".into() });
        } else if ping_due {
            control.push(NodeMessage::Ping {
                node_time: oasis_probe::now_ns(),
                clock_offset_ns: None,
                round_trip_ns: None,
                overhead: None,
            });
        }
        self.send(&control, &batches, shared);
        if let Some(link) = &mut self.link {
            link.has_left = is_done;
            if ping_due {
                link.next_ping = shared.now + PING;
            }
        }
    }

    fn send_ahead(&mut self, ahead: &[Vec<u8>], shared: &mut Shared) {
        let Some(link) = &self.link else { return };
        let mut bytes = Vec::new();
        for batch in ahead {
            shared.trace.detail(shared.now, || format!("ahead from {}: {:?}", link.id, Header::parse(batch)));
            bytes.extend_from_slice(&ahead_header(batch.len()));
            bytes.extend_from_slice(batch);
        }
        if !bytes.is_empty() {
            shared.send(link.id, Side::Dac, &bytes);
        }
    }

    /// Sends as the node's channels do: by stream, or small batches as datagrams.
    pub(super) fn send(&mut self, control: &[NodeMessage], batches: &[Arc<Vec<u8>>], shared: &mut Shared) {
        let Some(link) = &mut self.link else { return };
        let mut bytes = Vec::new();
        if link.offer.is_some() && !std::mem::replace(&mut link.has_announced, true) {
            write_control(&NodeMessage::Datagrams, &mut bytes);
        }
        for message in control {
            shared.trace.detail(shared.now, || format!("from {}: {message:?}", link.id));
            write_control(message, &mut bytes);
        }
        let fits = |batch: &Vec<u8>| {
            link.offer.is_some()
                && link.is_answered
                && batch.len() <= DATAGRAM
                && Header::parse(batch).is_ok_and(|header| header.dropped_before == 0)
        };
        let (small, rest): (Vec<_>, Vec<_>) = batches.iter().partition(|batch| fits(batch));
        for batch in batches {
            shared.trace.detail(shared.now, || format!("from {}: {:?}", link.id, Header::parse(batch)));
        }
        for batch in rest {
            bytes.extend_from_slice(&batch_header(batch.len()));
            bytes.extend_from_slice(batch);
        }
        let id = link.id;
        shared.send(id, Side::Dac, &bytes);
        let now = shared.now;
        let datagrams: Vec<(u64, Delivery)> =
            small.into_iter().flat_map(|batch| shared.network.datagram(id, batch, now)).collect();
        shared.deliver(datagrams);
    }
}

impl Carrier {
    /// Returns whether nothing of it can be lost any more.
    pub(super) fn is_done(&self) -> bool {
        self.outbox.with(|held| held.spool.is_finished())
    }

    /// Returns whether there is nothing more to send, and nothing to wait for.
    pub(super) fn is_sent(&self) -> bool {
        self.outbox.with(|held| held.is_sent())
    }
}
