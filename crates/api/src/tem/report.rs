//! Report of a DAC to a TEM.

use crate::Api;
use oasis_dac::{Moment, Moved, Registry, SOFTWARE};
use oasis_tem::{
    Attachment, Beat, DacName, Heartbeat, Kind, Line, Load, MAX_HEARTBEAT_BYTES, MovedNode, NodeNames,
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// Time over which instances and samples are counted: looking at each ledger costs time.
const COUNT_INTERVAL: Duration = Duration::from_secs(1);
/// Room for names in a heartbeat, bytes of JSON; the rest is for everything else.
const NAMES_BYTES: usize = MAX_HEARTBEAT_BYTES - 16 * 1024;

/// JSON of a connection, without the name of its node.
const ATTACHMENT_BYTES: usize = 100;

/// Properties that all heartbeats of a DAC share, whichever TEM receives them.
#[derive(Debug)]
pub struct Registrant {
    name: DacName,
    kind: Kind,
    relays: bool,
    beat: AtomicU64,
}

impl Registrant {
    /// A DAC or relay under this name.
    pub fn new(name: DacName, kind: Kind) -> Self {
        Self { name, kind, relays: kind == Kind::Relay, beat: AtomicU64::new(0) }
    }

    /// Says whether it serves the nodes of other DACs too.
    #[must_use]
    pub fn relaying(self, relays: bool) -> Self {
        Self { relays: self.relays || relays, ..self }
    }

    /// Its name.
    pub fn name(&self) -> &DacName {
        &self.name
    }
}

/// Makes the heartbeats of a DAC for one TEM.
#[derive(Debug, Clone)]
pub struct Reporter {
    api: Api,
    registrant: Arc<Registrant>,
    doors: String,
    channel: String,
    /// The last heartbeat on the stream.
    last: Option<Heartbeat>,
    /// Version of the registry of which `names` are.
    version: Option<u64>,
    names: NodeNames,
    names_revision: u64,
    /// Connected nodes, also those whose names are left out.
    online: u64,
    /// Revision of the names that the TEM has.
    sent: Option<u64>,
    counted: Counted,
}

/// Instances and the rate of their samples, as counted last.
#[derive(Debug, Clone)]
struct Counted {
    since: Option<Instant>,
    received: u64,
    instances: u64,
    per_second: u64,
}

impl Reporter {
    /// For a DAC that tools reach at `doors`, and nodes at `channel`.
    pub fn new(api: Api, registrant: Arc<Registrant>, doors: String, channel: String) -> Self {
        let counted = Counted { since: None, received: 0, instances: 0, per_second: 0 };
        let (version, sent) = (None, None);
        Self {
            api,
            registrant,
            doors,
            channel,
            last: None,
            version,
            names: NodeNames::default(),
            names_revision: 0,
            online: 0,
            sent,
            counted,
        }
    }

    /// Returns the next heartbeat. It has names only if they changed, or [`Self::set_sent`] said that the TEM needs them.
    pub fn heartbeat(&mut self) -> Heartbeat {
        let beat = self.registrant.beat.fetch_add(1, Ordering::Relaxed) + 1;
        self.update_names();
        let names = (self.sent != Some(self.names_revision)).then(|| self.names.clone());
        self.counted.update(&self.api.doors.dac.registry);
        let websockets = self.api.doors.admission.counters().open;
        let load = Load {
            nodes: self.online,
            instances: self.counted.instances,
            readers: (websockets + self.api.doors.readers().values().sum::<usize>()) as u64,
            samples_per_second: self.counted.per_second,
            relays: self.registrant.relays,
        };
        Heartbeat {
            epoch: self.api.doors.dac.epoch(),
            beat,
            kind: self.registrant.kind,
            doors: self.doors.clone(),
            channel: self.channel.clone(),
            software: SOFTWARE.into(),
            health: self.api.works(),
            load,
            names_revision: self.names_revision,
            names,
        }
    }

    /// Returns the next message of a stream: a whole heartbeat, or only its number if little else has changed.
    pub fn line(&mut self) -> Line {
        let heartbeat = self.heartbeat();
        let as_before = |last: &Heartbeat| {
            heartbeat.names.is_none()
                && (last.health, last.names_revision) == (heartbeat.health, heartbeat.names_revision)
        };
        let Some(last) = self.last.as_ref().filter(|last| as_before(last)) else {
            self.last = Some(Heartbeat { names: None, ..heartbeat.clone() });
            return Line::Heartbeat(Box::new(heartbeat));
        };
        let load = (last.load != heartbeat.load).then_some(heartbeat.load);
        let beat = Beat { beat: heartbeat.beat, load };
        self.last = Some(heartbeat);
        Line::Beat(beat)
    }

    /// A new stream begins with a whole heartbeat.
    pub fn begin_stream(&mut self) {
        self.last = None;
    }

    /// Handles the nodes that have made a later connection to another DAC: they are not shown as connected here any more.
    pub fn take_moved(&self, moved: &[MovedNode]) {
        let registry = &self.api.doors.dac.registry;
        for MovedNode { node, to, dac } in moved {
            let dac = if dac.is_empty() { "another DAC" } else { dac };
            registry.note_moved(node, &Moved { run: to.run, attach: to.attach, dac }, Moment::now());
        }
    }

    /// Says whether the TEM has the names of the last heartbeat.
    pub fn set_sent(&mut self, has_names: bool) {
        self.sent = has_names.then_some(self.names_revision);
    }

    /// Returns the query that removes this DAC from a list.
    pub fn departure(&self) -> Vec<(&'static str, String)> {
        let beat = self.registrant.beat.load(Ordering::Relaxed) + 1;
        vec![("epoch", self.api.doors.dac.epoch().to_string()), ("beat", beat.to_string())]
    }

    fn update_names(&mut self) {
        let registry = &self.api.doors.dac.registry;
        let version = registry.version();
        if self.version.replace(version) == Some(version) {
            return;
        }
        let mut nodes = registry.nodes();
        // Each DAC reports its own nodes: the others are relayed.
        nodes.retain(|node| node.path().is_empty());
        // Connected nodes first, if there is no room for all.
        nodes.sort_by_key(|node| !node.is_online());
        self.online = nodes.iter().filter(|node| node.is_online()).count() as u64;
        let (mut names, mut room) = (NodeNames::default(), NAMES_BYTES);
        for node in &nodes {
            let name = node.identity.name.to_string();
            // With quotes, comma and escapes.
            let bytes = serde_json::to_string(&name).map_or(usize::MAX, |json| json.len() + 1);
            match room.checked_sub(bytes) {
                None => names.left_out += 1,
                Some(left) => {
                    room = left;
                    let list = if node.is_online() { &mut names.online } else { &mut names.offline };
                    list.push(name);
                }
            }
        }
        for node in nodes {
            let name = node.identity.name.to_string();
            let (attach, list) = match (node.attach, node.is_online()) {
                (Some(attach), true) => (attach, &mut names.attached),
                (None, true) => continue,
                (attach, false) => (attach.unwrap_or_default(), &mut names.left),
            };
            let Some(left) = room.checked_sub(ATTACHMENT_BYTES + 6 * name.len()) else { break };
            room = left;
            list.insert(name, Attachment { run: node.identity.run, attach });
        }
        if names != self.names {
            (self.names, self.names_revision) = (names, self.names_revision + 1);
        }
    }
}

impl Counted {
    fn update(&mut self, registry: &Registry) {
        let passed = self.since.map(|since| since.elapsed());
        if passed.is_some_and(|passed| passed < COUNT_INTERVAL) {
            return;
        }
        let instances = registry.home_instances();
        let received = instances.iter().map(|instance| instance.ledger().received).sum();
        if let Some(passed) = passed {
            // A forgotten instance takes its count with it.
            let new = u64::saturating_sub(received, self.received) as f64;
            self.per_second = (new / passed.as_secs_f64()).round() as u64;
        }
        (self.since, self.received, self.instances) =
            (Some(Instant::now()), received, instances.len() as u64);
    }
}
