//! The connection of a node's process: how it begins and ends, and what comes over it.

use super::{
    DAC_TIMEOUT, MAX_REFUSALS, NANOS_PER_MILLISECOND, NodeHost,
    process::{Carrier, Link},
};
use crate::{
    network::Side,
    shared::{NodeEvent, Shared},
};
use anyhow::Context as _;
use oasis_channel::{
    DacMessage, NodeMessage, PROTOCOL,
    frame::{DEFAULT_MAX_BODY, Frame, Reader},
};
use oasis_probe::simulation::Announcement;
use std::time::Duration;

impl NodeHost {
    pub(super) fn connect(&mut self, shared: &mut Shared) -> anyhow::Result<()> {
        let Some(process) = &mut self.process else { return Ok(()) };
        process.begin_replay(self.plan.spool_bytes)?;
        if !shared.is_dac_up || !shared.network.passes(self.index, shared.now) {
            self.disconnected(false, shared);
            return Ok(());
        }
        let id = shared.network.open(self.index);
        shared.opened.push(id);
        let link = Link {
            id,
            reader: Reader::new(DEFAULT_MAX_BODY),
            since: shared.now,
            heard: shared.now,
            dac: None,
            is_live: false,
            next_ping: 0,
            farewell: None,
            has_left: false,
            offer: None,
            has_announced: false,
            is_answered: false,
        };
        let Announcement { identity, secret, .. } = &*process.carrier().announcement;
        let hello = NodeMessage::Hello {
            protocol: PROTOCOL,
            node: identity.clone(),
            secret: *secret,
            attach: None,
            drains: false,
        };
        process.link = Some(link);
        process.send(&[hello], &[], shared);
        shared.after(NANOS_PER_MILLISECOND, self.event(NodeEvent::Ship(id)));
        Ok(())
    }

    /// The connection has ended, or there was none.
    pub(super) fn disconnected(&mut self, is_refused: bool, shared: &mut Shared) {
        let Some(process) = &mut self.process else { return };
        let link = process.link.take();
        if let Some(link) = &link {
            shared.close(link.id, Side::Node);
        }
        process.refusals = if is_refused { process.refusals + 1 } else { 0 };
        let lasted = link.map_or(0, |link| shared.now - link.since);
        if process.replay.as_ref().is_some_and(Carrier::is_sent) || process.refusals >= MAX_REFUSALS {
            process.end_replay(shared);
        }
        let lasted = if is_refused { 0 } else { lasted };
        let pause = process.backoff.after(Duration::from_nanos(lasted));
        shared.after(pause.as_nanos() as u64, self.event(NodeEvent::Connect));
    }

    /// Handles bytes from the DAC.
    ///
    /// # Errors
    /// If the simulation itself fails.
    pub fn on_bytes(&mut self, bytes: &[u8], shared: &mut Shared) -> anyhow::Result<()> {
        self.enter(shared);
        let Some(link) = self.process.as_mut().and_then(|process| process.link.as_mut()) else {
            return Ok(());
        };
        link.heard = shared.now;
        link.reader.extend(bytes);
        let mut messages = Vec::new();
        while let Some(frame) = link.reader.next().context("the DAC sent no frame")? {
            let Frame::Control(json) = frame else { anyhow::bail!("the DAC sent a batch") };
            messages.push(serde_json::from_slice::<DacMessage>(json).context("the DAC sent no message")?);
        }
        for message in messages {
            if let DacMessage::Refused(failure) = &message {
                shared.note(format!("{} is refused: {}", self.name(), failure.code));
                self.disconnected(true, shared);
                break;
            }
            self.on_message(message, shared);
        }
        self.end_if_done(shared);
        Ok(())
    }

    pub(super) fn on_message(&mut self, message: DacMessage, shared: &mut Shared) {
        let name = self.name();
        let Some(process) = &mut self.process else { return };
        let outbox = process.carrier().outbox.clone();
        match message {
            DacMessage::Welcome { datagrams, epoch, safe, ahead, .. } => {
                if let Some(link) = &mut process.link {
                    link.offer = datagrams.filter(|_| self.plan.udp);
                    link.dac = Some((epoch, safe, ahead));
                }
                let Announcement { types, instances, .. } = &*process.carrier().announcement;
                let register = NodeMessage::Register { types: types.clone(), instances: instances.clone() };
                let keep = safe.map(|_| NodeMessage::KeepUntilSafe);
                process.send(&keep.into_iter().chain([register]).collect::<Vec<_>>(), &[], shared);
            }
            DacMessage::Registered { topics } => {
                shared.note(format!("{name} is registered"));
                process.registered(&topics, shared);
            }
            DacMessage::Ack { topics } => outbox.with(|held| {
                topics.iter().for_each(|&(topic, sequence)| held.spool.acknowledge(topic, sequence));
            }),
            DacMessage::Safe { topics, .. } => outbox.with(|held| {
                topics.iter().for_each(|&(topic, sequence)| held.spool.safe(topic, sequence));
            }),
            DacMessage::KeptAhead { topics } => outbox.with(|held| {
                topics.iter().for_each(|&(topic, first)| held.spool.kept_ahead(topic, first));
            }),
            DacMessage::Pong { .. } => {
                if let Some(link) = &mut process.link {
                    link.is_answered = true;
                }
            }
            DacMessage::Command { .. } | DacMessage::Drain | DacMessage::Refused(_) => {}
        }
    }

    /// Handles the end of the connection.
    ///
    /// # Errors
    /// If the simulation itself fails.
    pub fn on_end(&mut self, shared: &mut Shared) -> anyhow::Result<()> {
        self.enter(shared);
        self.disconnected(false, shared);
        self.end_if_done(shared);
        Ok(())
    }

    /// One step of the shipper's loop.
    pub(super) fn ship(&mut self, shared: &mut Shared) -> anyhow::Result<()> {
        let now = shared.now;
        let Some(process) = &mut self.process else { return Ok(()) };
        let Some(link) = &process.link else { return Ok(()) };
        let (id, is_silent) = (link.id, now - link.heard > DAC_TIMEOUT);
        let is_late = link.is_live && !link.has_left && process.ship(shared);
        if is_silent || is_late {
            self.disconnected(false, shared);
            return Ok(());
        }
        let pause = shared.random.u64(NANOS_PER_MILLISECOND..15 * NANOS_PER_MILLISECOND);
        shared.after(pause, self.event(NodeEvent::Ship(id)));
        Ok(())
    }
}
