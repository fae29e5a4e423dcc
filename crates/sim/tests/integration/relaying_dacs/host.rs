//! A DAC with its archive, and what it relays of the other one.

use super::{
    line::Line,
    watcher::{Watched, Watcher},
};
use fastrand::Rng;
use oasis_channel::{InstanceState, RegisteredInstance};
use oasis_dac::{Config, Dac, Follower, Hop, Instance, Moment, RelayedNode, Upstream, UpstreamEvents};
use oasis_relay::ResumePoints;
use oasis_wire::{
    batch::Header,
    loss::Cause,
    probe_kind::ProbeKind,
    quantity::{Nanos, Offset},
    schema::ProbeType,
    stored::{StoredInstance, StoredNode, StoredRun},
};
use std::{collections::BTreeSet, sync::Arc};
use uuid::Uuid;

pub const INSTANCES: usize = 2;
pub const RUN: Uuid = Uuid::from_u128(7);
pub const NODE: &str = "plant";

pub fn name(instance: usize) -> String {
    format!("it {instance}")
}

pub fn number(instance: &Instance) -> usize {
    instance.name[3..].parse().unwrap()
}

pub fn announced(instance: usize, probe_type: &ProbeType) -> RegisteredInstance {
    RegisteredInstance {
        name: name(instance),
        probe_type: probe_type.uuid,
        kind: ProbeKind::Pushed,
        demand: None,
        declared: None,
        state: InstanceState { hertz: None, enabled: true, recorder: None },
    }
}

/// A topic log that the archive reads.
struct Tracked {
    instance: Arc<Instance>,
    next: Offset,
}

pub struct Host {
    pub dac: Arc<Dac>,
    /// Nodes of the other DAC.
    upstream: (Upstream, UpstreamEvents),
    /// Their samples, if they have readers.
    line: Option<(Line, ResumePoints)>,
    tracked: Vec<Tracked>,
    /// Readers here, two of each instance.
    watchers: [Watcher; 2 * INSTANCES],
    pub stored: [BTreeSet<u64>; INSTANCES],
    /// Numbers that the archive declares dropped by the node.
    pub declared: [BTreeSet<u64>; INSTANCES],
}

impl Host {
    pub fn new() -> Self {
        let dac = started();
        let upstream = Upstream::new(&dac);
        let (tracked, stored, declared) = Default::default();
        Self {
            dac,
            upstream,
            line: None,
            tracked,
            watchers: [0, 1, 0, 1].map(Watcher::new),
            stored,
            declared,
        }
    }

    /// Connects to the other DAC, or again: readers here receive samples of its nodes.
    pub fn connect(&mut self, other: &Arc<Dac>) {
        match &mut self.line {
            Some((line, places)) => line.reconnect(other, places, &self.upstream.0),
            None => {
                let places = ResumePoints::default();
                self.line = Some((Line::new(other, &places), places));
            }
        }
    }

    /// Some readers here read.
    pub fn read(
        &mut self,
        mut reads: impl FnMut() -> bool,
        dropped: &[BTreeSet<u64>; INSTANCES],
        watched: &mut Watched,
    ) {
        for watcher in self.watchers.iter_mut().filter(|_| reads()) {
            watcher.read(&self.dac, dropped, watched);
        }
    }

    /// A part of what happens on that connection, at random.
    pub fn carry(&mut self, random: &mut Rng) {
        if let Some((line, _)) = &mut self.line {
            line.step(random, &self.upstream.0, &mut self.upstream.1);
        }
    }

    /// Everything arrives.
    pub fn settle_line(&mut self) {
        if let Some((line, _)) = &mut self.line {
            line.renew_subscriptions(&self.upstream.0);
            line.hear_readers(&self.upstream.0, &mut self.upstream.1);
            line.send(usize::MAX);
            line.deliver(usize::MAX);
        }
    }

    /// `kill -9`, and a start with what the archive has.
    pub fn restart(&mut self, probe_type: &Arc<ProbeType>, now: Moment) {
        self.dac = started();
        self.upstream = Upstream::new(&self.dac);
        self.line = None;
        self.tracked.clear();
        self.watchers.iter_mut().for_each(Watcher::lose);
        let stored = self.stored.iter().enumerate().filter_map(|(instance, stored)| {
            let &last_sequence = stored.last()?;
            let run = StoredRun { run: RUN, last_sequence, taken: 0 };
            Some(StoredInstance {
                node: NODE.into(),
                instance: name(instance).into(),
                probe_type: probe_type.clone(),
                kind: ProbeKind::Pushed,
                run: RUN,
                runs: vec![run],
                last_time: 1,
            })
        });
        let node = StoredNode {
            name: NODE.into(),
            uuid: Uuid::nil(),
            host: "h".into(),
            software: "test".into(),
            last_seen: now.wall,
            run: Some(RUN),
            owner: None,
            former: Vec::new(),
        };
        self.dac.registry.restore(&[node], stored.collect());
    }

    /// The archive stores what some topics have received.
    pub fn commit(&mut self, mut stores: impl FnMut() -> bool) {
        for instance in self.dac.registry.instances_to_follow(Follower::Archive) {
            instance.follow(Follower::Archive);
            if !self.tracked.iter().any(|tracked| tracked.instance.topic == instance.topic) {
                let next = instance.log.start();
                self.tracked.push(Tracked { instance, next });
            }
        }
        for Tracked { instance, next } in &mut self.tracked {
            // In order: the rest has to wait for another commit.
            if !stores() {
                break;
            }
            let at = number(instance);
            let mut last = None;
            for segment in instance.log.read(*next, usize::MAX).segments {
                let header = Header::parse(segment.batch()).unwrap();
                for sequence in header.first_sequence..header.first_sequence + u64::from(header.count) {
                    assert!(self.stored[at].insert(sequence), "{sequence} of {at} is stored twice");
                    last = Some((RUN, sequence));
                }
                *next = segment.end();
            }
            let mut ledger = instance.ledger();
            let dropped = ledger.gaps.iter().filter(|gap| gap.cause == Cause::RingFull);
            self.declared[at].extend(dropped.flat_map(|gap| gap.from_sequence..=gap.to_sequence));
            let (run, last_sequence) = (ledger.run(), ledger.last_sequence);
            ledger.note_stored(*next, last, false);
            ledger.note_listed(run, last_sequence);
        }
        self.tracked.retain(|tracked| {
            let is_over = tracked.instance.is_retired() && tracked.next >= tracked.instance.log.next();
            if is_over {
                tracked.instance.end_following(Follower::Archive);
            }
            !is_over
        });
    }

    /// Learns of the node from the other DAC: the node, and perhaps its instances.
    pub fn relay(&self, other: &Self, keeps_attach: bool, with_instances: bool) {
        let Some(node) = other.dac.registry.node(NODE) else { return };
        let hop = Hop {
            dac: "other".into(),
            epoch: other.dac.epoch(),
            clock_offset_ns: Some(0),
            round_trip_ns: Some(0),
        };
        let relayed = RelayedNode {
            identity: (*node.identity).clone(),
            is_online: node.is_online(),
            attach: node.attach.filter(|_| keeps_attach),
            since: node.since,
            is_replay: false,
            path: node.path().iter().cloned().chain([hop]).collect(),
            labels: Default::default(),
        };
        let (upstream, _) = &self.upstream;
        if upstream.node(relayed).is_err() || !with_instances {
            return;
        }
        for instance in other.dac.registry.instances() {
            let at = number(&instance);
            let run = instance.ledger().run();
            // Refused if the node is known from elsewhere by now.
            let _ = upstream.instance(NODE, announced(at, &instance.probe_type), &instance.probe_type, run);
        }
    }

    /// The other DAC does not list the node any more.
    pub fn end_relay(&mut self) {
        let is_listed = self.upstream.0.lists(NODE);
        self.upstream.0.remove(NODE, None);
        if is_listed {
            self.watchers.iter_mut().for_each(Watcher::begin_again);
        }
    }

    pub fn lose_upstream(&self) {
        self.upstream.0.lost();
    }

    /// The epoch of the DAC that the node is connected to, as far as this one knows.
    pub fn home(&self) -> Option<oasis_wire::quantity::Epoch> {
        let node = self.dac.registry.node(NODE).filter(oasis_dac::Node::is_online)?;
        Some(node.path().first().map_or(self.dac.epoch(), |hop| hop.epoch))
    }
}

fn started() -> Arc<Dac> {
    let dac = Dac::new(Config::default());
    dac.keeping.set_archive(Some(Arc::new(|_, _| true)));
    dac.registry.restore(&[], Vec::new());
    dac
}

pub fn moment(seconds: u64) -> Moment {
    Nanos(1_000_000_000_000 + seconds * 1_000_000_000).into()
}
