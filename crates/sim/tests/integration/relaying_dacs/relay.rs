//! A relay of both DACs, and the readers of its topics.

use super::{
    host::INSTANCES,
    line::Line,
    watcher::{Watched, Watcher},
};
use fastrand::Rng;
use oasis_dac::{Config, Dac, RegistryCursor, RegistryDelta, SchemaHash, Upstream, UpstreamEvents, now};
use oasis_relay::{Mirror, Need, ResumePoints};
use oasis_wire::{quantity::Epoch, schema::ProbeType};
use serde_json::{Value, json};
use std::{collections::BTreeSet, sync::Arc};

/// A connection to a DAC: its registry, and a line.
struct Leg {
    mirror: Mirror,
    events: UpstreamEvents,
    line: Line,
    epoch: Option<Epoch>,
    cursor: RegistryCursor,
}

pub struct Relay {
    dac: Arc<Dac>,
    places: ResumePoints,
    legs: [Leg; 2],
    watchers: [Watcher; INSTANCES],
    pub watched: Watched,
}

impl Relay {
    pub fn new(hosts: [&Arc<Dac>; 2]) -> Self {
        let (dac, places) = (Dac::new(Config::default()), ResumePoints::default());
        let legs = [0, 1].map(|at| {
            let (upstream, events) = Upstream::new(&dac);
            let mirror = Mirror::new(upstream, format!("hall-{at}"));
            let line = Line::new(hosts[at], &places);
            Leg { mirror, events, line, epoch: None, cursor: RegistryCursor::default() }
        });
        let watchers = [0, 1].map(Watcher::new);
        Self { dac, places, legs, watchers, watched: Watched::default() }
    }

    /// The connection to a DAC ends.
    pub fn lose(&mut self, at: usize) {
        self.legs[at].mirror.lost();
        self.legs[at].epoch = None;
    }

    /// A part of what can happen, at random.
    pub fn step(&mut self, random: &mut Rng, hosts: [&Arc<Dac>; 2], probe_type: &ProbeType) {
        let at = random.usize(0..2);
        match random.u32(0..12) {
            0..3 => self.hear(at, hosts[at], random.usize(1..600), probe_type),
            3 => self.legs[at].mirror.retry(),
            4..10 => {
                let Leg { mirror, events, line, .. } = &mut self.legs[at];
                line.step(random, mirror.upstream(), events);
            }
            _ => {}
        }
    }

    /// Everything arrives.
    pub fn settle(&mut self, hosts: [&Arc<Dac>; 2], probe_type: &ProbeType) {
        for (at, there) in hosts.into_iter().enumerate() {
            for _ in 0..20 {
                self.hear(at, there, usize::MAX, probe_type);
            }
            let Leg { mirror, events, line, .. } = &mut self.legs[at];
            mirror.retry();
            line.renew_subscriptions(mirror.upstream());
            line.hear_readers(mirror.upstream(), events);
            for _ in 0..20 {
                line.send(usize::MAX);
                line.deliver(usize::MAX);
            }
        }
    }

    /// The registry of a DAC arrives in part.
    fn hear(&mut self, at: usize, there: &Arc<Dac>, most_bytes: usize, probe_type: &ProbeType) {
        let Self { legs, places, .. } = self;
        let leg = &mut legs[at];
        if leg.epoch != Some(there.epoch()) {
            leg.connect(there, places);
        }
        let delta = there.registry.delta(leg.cursor, most_bytes);
        leg.cursor = delta.next;
        leg.take(message(there, delta));
        while let Some(need) = leg.mirror.take_need() {
            if let Need::Schema(hash) = need {
                leg.mirror.schema(&hash, probe_type.clone());
            }
        }
    }

    /// Readers read. Samples that the node has dropped have no gap: ledgers have them.
    pub fn read(&mut self, dropped: &[BTreeSet<u64>; INSTANCES]) {
        for watcher in &mut self.watchers {
            watcher.read(&self.dac, dropped, &mut self.watched);
        }
    }

    /// The last number that each reader has received.
    pub fn last(&self) -> [u64; INSTANCES] {
        [0, 1].map(|at| self.watchers[at].last())
    }
}

impl Leg {
    fn connect(&mut self, there: &Arc<Dac>, places: &ResumePoints) {
        self.mirror.lost();
        if self.line.epoch() != there.epoch() {
            self.cursor = RegistryCursor::default();
        }
        self.epoch = Some(there.epoch());
        self.take(json!({"op": "welcome", "protocol": 1, "epoch": there.epoch()}));
        if self.mirror.is_known() {
            self.mirror.list_all();
        }
        self.line.reconnect(there, places, self.mirror.upstream());
    }

    fn take(&mut self, message: Value) {
        self.mirror.take(serde_json::from_value(message).unwrap(), now()).unwrap();
    }
}

/// A change of the registry, as the WebSocket door writes it.
fn message(there: &Dac, delta: RegistryDelta) -> Value {
    let node = |node: &oasis_dac::Node| {
        json!({
            "name": node.identity.name, "uuid": node.identity.uuid, "run": node.identity.run, "host": "h", "software": "s",
            "pid": 1, "online": node.is_online(), "since": node.since, "replay": false, "attach": node.attach,
            "path": node.path(),
        })
    };
    let instance = |instance: &Arc<oasis_dac::Instance>| {
        json!({
            "id": instance.topic, "node": &*instance.node, "instance": &*instance.name, "type": 0, "kind": "pushed",
            "enabled": true, "run": instance.ledger().run(),
        })
    };
    let hash = delta.instances.first().map(|instance| SchemaHash::of(&instance.probe_type).to_string());
    json!({
        "op": "registry_delta", "from": delta.from, "revision": delta.next.revision, "more": delta.more,
        "position": format!("{}:{}", there.epoch(), delta.next.revision),
        "types": hash.iter().map(|hash| json!({"type": "Beat", "schema": hash})).collect::<Vec<_>>(),
        "nodes": delta.nodes.iter().map(node).collect::<Vec<_>>(),
        "instances": delta.instances.iter().map(instance).collect::<Vec<_>>(),
        "removed": {
            "nodes": delta.removed_nodes.iter().map(|name| &**name).collect::<Vec<_>>(),
            "instances": delta.removed_instances,
        },
    })
}
