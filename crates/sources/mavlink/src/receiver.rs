//! Samples from the bytes of links.

use crate::{
    MavlinkConfig,
    dialect::{Dialect, MessageType, identified},
    frame::Frame,
    inbox::{Inbox, Incoming},
    track::{FrameRecord, NumberedFrame, Track},
};
use oasis_dac::Dac;
use oasis_source_node::{DeclaredSample, SourceLimits, SourceLoss, SourceNodes};
use oasis_wire::{
    schema::{Metric, MetricType, ProbeType},
    value::RowWriter,
};
use std::{
    collections::{BTreeMap, HashMap},
    net::SocketAddr,
    sync::Arc,
};

/// The instance with a sample for each frame of a component. Its numbers follow those of MAVLink, so that it has their gaps.
pub const MESSAGES: &str = "messages";
/// Most peers whose incomplete frames are kept.
const MAX_PEERS: usize = 256;
/// Longest wait for the rest of a frame, in nanoseconds.
const FRAME_TIMEOUT_NANOS: u64 = 500_000_000;
/// Silence of one way to a component after which another way is taken, in nanoseconds.
const WAY_TIMEOUT_NANOS: u64 = 1_000_000_000;
/// Most unknown messages that are counted apart.
const MAX_UNKNOWN_MESSAGES: usize = 64;

/// The way of a frame: a link, and the peer of datagrams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Way {
    /// The number of the link.
    pub link: usize,
    /// The sender of datagrams.
    pub peer: Option<SocketAddr>,
}

/// Pushes the frames of all links as samples.
#[derive(Debug)]
pub struct Receiver {
    dialect: Dialect,
    peers: HashMap<Way, Peer>,
    components: Components,
}

#[derive(Debug)]
struct Peer {
    inbox: Inbox,
    heard: u64,
}

/// The components of all systems, and their nodes.
#[derive(Debug)]
struct Components {
    config: MavlinkConfig,
    known: HashMap<(u8, u8), Component>,
    nodes: SourceNodes,
    messages: Arc<ProbeType>,
    row: Vec<u8>,
    counters: ReceiverCounters,
}

/// A component: a vehicle's autopilot, a camera, a ground station.
#[derive(Debug)]
struct Component {
    node: String,
    way: Way,
    /// The time of the newest frame, nanoseconds since 1970.
    heard: u64,
    is_online: bool,
    track: Track,
}

/// Counters of frames since the handler started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReceiverCounters {
    /// Frames with a correct checksum, or with an unknown message.
    pub frames: u64,
    /// Signed frames, whose signatures are not verified.
    pub signed_frames: u64,
    /// Messages that became samples.
    pub samples: u64,
    /// Samples that were taken, and that the DAC refused.
    pub lost_samples: u64,
    /// Messages of which nothing was taken.
    pub refused_messages: u64,
    /// Frames that were lost on the way here.
    pub missing_frames: u64,
    /// Frames that came after later ones, or twice.
    pub late_frames: u64,
    /// Restarts of senders.
    pub restarts: u64,
    /// Frames with a wrong checksum.
    pub damaged_frames: u64,
    /// Frames with flags that are not known.
    pub incompatible_frames: u64,
    /// Bytes that belong to no frame.
    pub skipped_bytes: u64,
    /// Frames of a component that is heard on another way.
    pub frames_of_other_ways: u64,
    /// Messages with a key, which are not kept.
    pub secret_messages: u64,
    /// Messages that the dialect lacks, by their number.
    pub unknown_messages: BTreeMap<u32, u64>,
    /// Further such messages.
    pub more_unknown_messages: u64,
    /// Nodes that are online.
    pub nodes: usize,
    /// Instances of these.
    pub series: usize,
    /// Why the newest message was refused.
    pub newest_refusal: Option<String>,
}

impl Receiver {
    /// Creates it without nodes.
    pub fn new(config: &MavlinkConfig, dac: Arc<Dac>) -> Self {
        let dialect = Dialect::built_in();
        let limits = SourceLimits {
            max_nodes: config.max_nodes,
            max_instances: config.max_series,
            ..SourceLimits::default()
        };
        let components = Components {
            config: config.clone(),
            known: HashMap::new(),
            nodes: SourceNodes::new(dac, "oasis mavlink", limits),
            messages: Arc::new(messages_type(&dialect)),
            row: Vec::new(),
            counters: ReceiverCounters::default(),
        };
        Self { dialect, peers: HashMap::new(), components }
    }

    /// Takes bytes that arrived at a time; [`Receiver::flush`] sends their samples.
    pub fn receive(&mut self, way: Way, bytes: &[u8], now: u64) {
        let Self { dialect, peers, components } = self;
        if !peers.contains_key(&way) && peers.len() >= MAX_PEERS {
            let oldest = peers.iter().min_by_key(|(_, peer)| peer.heard).map(|(way, _)| *way);
            if let Some(peer) = oldest.and_then(|oldest| peers.remove(&oldest)) {
                components.counters.skipped_bytes += peer.inbox.pending_bytes() as u64;
            }
        }
        let peer = peers.entry(way).or_insert_with(|| Peer { inbox: Inbox::default(), heard: now });
        peer.heard = now;
        match way.peer {
            Some(_) => {
                if peer.inbox.is_interrupted_by(bytes, dialect) {
                    components.give_up(way, &mut peer.inbox, dialect, now);
                }
                peer.inbox.push_datagram(bytes);
            }
            None => peer.inbox.push(bytes),
        }
        components.take_all(way, &mut peer.inbox, dialect, now);
    }

    /// Gives up incomplete frames and decides about jumps that have waited, and disconnects nodes that are silent for `offline_after` nanoseconds.
    pub fn poll(&mut self, now: u64, offline_after: u64) {
        let Self { dialect, peers, components } = self;
        for (way, peer) in peers.iter_mut() {
            let is_old = now.saturating_sub(peer.heard) >= FRAME_TIMEOUT_NANOS;
            if is_old {
                components.give_up(*way, &mut peer.inbox, dialect, now);
            }
        }
        peers.retain(|_, peer| now.saturating_sub(peer.heard) < offline_after);
        components.poll(now, offline_after);
    }

    /// Sends all samples to the DAC, and wakes their readers.
    pub fn flush(&mut self) {
        self.components.flush();
    }

    /// Passes on all frames that wait, before the source ends.
    pub fn end(&mut self) {
        self.components.end();
        self.flush();
    }

    /// Counters since its creation.
    pub fn counters(&self) -> &ReceiverCounters {
        &self.components.counters
    }
}

impl Components {
    /// Takes all frames that are complete.
    fn take_all(&mut self, way: Way, inbox: &mut Inbox, dialect: &Dialect, now: u64) {
        while let Some(incoming) = inbox.take_next(dialect) {
            match incoming {
                Incoming::Message(frame, message) => self.take(way, &frame, message, dialect, now),
                Incoming::Unknown(frame) => self.take_unknown(way, &frame, now),
                Incoming::Damaged => {
                    self.counters.damaged_frames += 1;
                    self.counters.skipped_bytes += 1;
                }
                Incoming::Incompatible => {
                    self.counters.incompatible_frames += 1;
                    self.counters.skipped_bytes += 1;
                }
                Incoming::Skipped => self.counters.skipped_bytes += 1,
            }
        }
        inbox.shrink();
    }

    /// Gives up a frame whose rest does not arrive, and takes the frames in its bytes.
    fn give_up(&mut self, way: Way, inbox: &mut Inbox, dialect: &Dialect, now: u64) {
        while inbox.give_up() {
            self.counters.skipped_bytes += 1;
            self.take_all(way, inbox, dialect, now);
        }
    }

    fn take(&mut self, way: Way, frame: &Frame<'_>, message: &MessageType, dialect: &Dialect, now: u64) {
        let sender = (frame.system, frame.component);
        if !self.known.contains_key(&sender) {
            if self.known.len() >= self.config.max_nodes {
                let node = self.config.node_name(frame.system, frame.component);
                let name = message.name;
                return self
                    .refuse(format!("{node}/{name}: there are more components than mavlink.max_nodes"));
            }
            let node = self.config.node_name(frame.system, frame.component);
            let component = Component { node, way, heard: now, is_online: false, track: Track::default() };
            self.known.insert(sender, component);
        }
        if !self.count(way, frame, message.boot_time(frame.payload), now) {
            return;
        }
        if message.is_secret {
            self.counters.secret_messages += 1;
            return;
        }
        message.pack(frame.payload, &mut self.row);
        let Some(component) = self.known.get(&sender) else { return };
        let sample = DeclaredSample {
            node: &component.node,
            instance: message.name,
            probe_type: dialect.probe_type(message),
            time: now,
            row: &self.row,
        };
        match self.nodes.push_declared(&sample) {
            Ok(()) => self.counters.samples += 1,
            Err(why) => self.refuse(why.to_string()),
        }
    }

    /// Counts a message that the dialect lacks. Its number counts for the losses of a component that is known.
    fn take_unknown(&mut self, way: Way, frame: &Frame<'_>, now: u64) {
        if !self.known.contains_key(&(frame.system, frame.component)) || !self.count(way, frame, None, now) {
            self.counters.skipped_bytes += frame.payload.len() as u64;
            return;
        }
        let unknown = &mut self.counters.unknown_messages;
        if unknown.len() < MAX_UNKNOWN_MESSAGES || unknown.contains_key(&frame.message) {
            *unknown.entry(frame.message).or_default() += 1;
        } else {
            self.counters.more_unknown_messages += 1;
        }
    }

    /// Numbers a frame. Returns whether it came on the way of its component.
    fn count(&mut self, way: Way, frame: &Frame<'_>, boot_time: Option<u32>, now: u64) -> bool {
        let Some(component) = self.known.get_mut(&(frame.system, frame.component)) else { return false };
        let mut output = MessageOutput {
            nodes: &mut self.nodes,
            counters: &mut self.counters,
            probe_type: &self.messages,
        };
        if component.way != way {
            if component.is_online && now.saturating_sub(component.heard) < WAY_TIMEOUT_NANOS {
                output.counters.frames_of_other_ways += 1;
                return false;
            }
            // Another way has lost other frames.
            component.track.end(|frame| output.push(&component.node, frame));
            component.way = way;
        }
        (component.heard, component.is_online) = (now, true);
        output.counters.frames += 1;
        output.counters.signed_frames += u64::from(frame.is_signed);
        let record = FrameRecord {
            time: now,
            message: frame.message,
            sequence: frame.sequence,
            payload_bytes: frame.payload.len() as u8,
            version: frame.version,
            is_signed: frame.is_signed,
        };
        component.track.receive(record, boot_time, |frame| output.push(&component.node, frame));
        true
    }

    fn refuse(&mut self, why: String) {
        self.counters.refused_messages += 1;
        self.counters.newest_refusal = Some(why);
    }

    fn poll(&mut self, now: u64, offline_after: u64) {
        for component in self.known.values_mut().filter(|component| component.is_online) {
            let mut output = MessageOutput {
                nodes: &mut self.nodes,
                counters: &mut self.counters,
                probe_type: &self.messages,
            };
            if now.saturating_sub(component.heard) < offline_after {
                component.track.poll(now, |frame| output.push(&component.node, frame));
                continue;
            }
            component.track.end(|frame| output.push(&component.node, frame));
            component.is_online = false;
            self.nodes.disconnect(&component.node);
        }
    }

    fn end(&mut self) {
        for component in self.known.values_mut().filter(|component| component.is_online) {
            let mut output = MessageOutput {
                nodes: &mut self.nodes,
                counters: &mut self.counters,
                probe_type: &self.messages,
            };
            component.track.end(|frame| output.push(&component.node, frame));
        }
    }

    fn flush(&mut self) {
        let lost = self.nodes.flush();
        let counters = &mut self.counters;
        counters.samples = counters.samples.saturating_sub(lost.count);
        counters.lost_samples += lost.count;
        if lost.count > 0 {
            counters.newest_refusal = Some(lost.reason);
        }
        counters.restarts = self.known.values().map(|component| component.track.restarts).sum();
        counters.late_frames = self.known.values().map(|component| component.track.late).sum();
        (counters.nodes, counters.series) = (self.nodes.node_count(), self.nodes.instance_count());
    }
}

/// The samples of [`MESSAGES`].
struct MessageOutput<'a> {
    nodes: &'a mut SourceNodes,
    counters: &'a mut ReceiverCounters,
    probe_type: &'a Arc<ProbeType>,
}

impl MessageOutput<'_> {
    fn push(&mut self, node: &str, numbered: NumberedFrame) {
        let NumberedFrame { missing, frame } = numbered;
        if missing > 0 {
            self.counters.missing_frames += u64::from(missing);
            self.nodes.note_missing(node, MESSAGES, missing.into(), SourceLoss::Network);
        }
        let mut row = Vec::with_capacity(8);
        let mut writer = RowWriter::new(&mut row);
        writer.u32(frame.message);
        writer.u8(frame.sequence);
        writer.u8(frame.payload_bytes);
        writer.u8(frame.version);
        writer.boolean(frame.is_signed);
        let (probe_type, time, row) = (self.probe_type, frame.time, &*row);
        let sample = DeclaredSample { node, instance: MESSAGES, probe_type, time, row };
        if let Err(why) = self.nodes.push_declared(&sample) {
            self.counters.refused_messages += 1;
            self.counters.newest_refusal = Some(why.to_string());
        }
    }
}

/// The type of [`MESSAGES`].
fn messages_type(dialect: &Dialect) -> ProbeType {
    let described = |name: &str, kind, doc: &str| {
        let mut metric = Metric::new(name, kind);
        metric.doc = Some(doc.into());
        metric
    };
    let mut message = described("message", MetricType::Uint32, "The message.");
    message.enumeration = Some(dialect.message_numbers());
    let sequence = "The number of the frame. It has 8 bits: a loss of more than 255 frames looks 256 shorter, or like none.";
    let mut payload = described("payload", MetricType::Uint8, "Bytes of its payload.");
    payload.unit = Some("By".into());
    let metrics = vec![
        message,
        described("sequence", MetricType::Uint8, sequence),
        payload,
        described("version", MetricType::Uint8, "The version of the protocol."),
        described("signed", MetricType::Boolean, "Whether it has a signature, which is not verified."),
    ];
    identified("Messages", "The frames of a component, and those that are missing.", metrics)
}
