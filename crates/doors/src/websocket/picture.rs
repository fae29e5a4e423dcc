//! The registry as one message: nodes and instances, for clients that watch them.
//!
//! With thousands of instances the message has megabytes. So it is made a page a turn, between samples. It is made once for all clients of a shard and is
//! shared, not copied. A client gets the next one only after it has taken the one before, and the larger it is the longer is the rest before the next one.

use crate::view;
use bytes::Bytes;
use oasis_dac::{Node, Registry};
use oasis_websocket::{Opcode, frame};
use oasis_wire::quantity::TopicId;
use serde::Serialize;
use std::{collections::HashMap, mem, sync::Arc, time::Instant};

/// Instances or nodes that are written in one turn.
const PAGE_ENTRIES: usize = 64;

/// The newest picture of a shard.
#[derive(Debug, Default)]
pub struct Picture {
    /// Version of the registry, and the frame of its picture.
    made: Option<(u64, Bytes)>,
    /// The next one, of which some pages are written.
    unfinished: Option<Unfinished>,
    /// When the next one may be made.
    pub(super) not_before: Option<Instant>,
    /// Whether a client waits for a picture.
    pub(super) is_due: bool,
}

impl Picture {
    /// Returns when a client that waits for a picture can get it.
    pub fn due(&self) -> Option<Instant> {
        self.is_due.then(|| self.not_before.unwrap_or_else(Instant::now))
    }

    /// Returns whether some pages are written, but not all.
    pub(super) fn is_unfinished(&self) -> bool {
        self.unfinished.is_some()
    }

    /// Returns a picture and its version, once it has all pages; writes one of them if it has not. If the registry has changed meanwhile, the picture is of
    /// an earlier version.
    pub(super) fn present(&mut self, registry: &Registry) -> Option<(u64, Bytes)> {
        let version = registry.version();
        let is_present = |(made, _): &&(u64, Bytes)| *made == version;
        if self.unfinished.is_none()
            && let Some(made) = self.made.as_ref().filter(is_present)
        {
            return Some(made.clone());
        }
        let mut unfinished = self.unfinished.take().unwrap_or_else(|| Unfinished::of(version));
        if !unfinished.write_page(registry) {
            self.unfinished = Some(unfinished);
            return None;
        }
        let made = (unfinished.version, unfinished.frame());
        self.made = Some(made.clone());
        Some(made)
    }
}

/// A picture to which pages are added.
#[derive(Debug)]
struct Unfinished {
    /// Version of the registry when it began.
    version: u64,
    place: PicturePosition,
    /// JSON of the entries so far.
    instances: Vec<u8>,
    nodes: Vec<u8>,
    /// Number of instances by node.
    counts: HashMap<Arc<str>, usize>,
}

/// The last entry that a picture has.
#[derive(Debug)]
enum PicturePosition {
    Instance(Option<TopicId>),
    Node(Option<String>),
}

impl Unfinished {
    fn of(version: u64) -> Self {
        let (instances, nodes, counts) = Default::default();
        Self { version, place: PicturePosition::Instance(None), instances, nodes, counts }
    }

    /// Adds a page, instances first. Returns whether it was the last.
    fn write_page(&mut self, registry: &Registry) -> bool {
        match &self.place {
            PicturePosition::Instance(after) => {
                let page = registry.instances_after(*after, PAGE_ENTRIES);
                let mut nodes: HashMap<Arc<str>, Option<Node>> = HashMap::new();
                for instance in &page {
                    *self.counts.entry(instance.node.clone()).or_default() += 1;
                    let known = nodes.entry(instance.node.clone());
                    let node = known.or_insert_with(|| registry.node(&instance.node));
                    put(&mut self.instances, &view::instance_of(registry, node.as_ref(), instance));
                }
                let last = page.last().filter(|_| page.len() == PAGE_ENTRIES).map(|instance| instance.topic);
                self.place =
                    last.map_or(PicturePosition::Node(None), |last| PicturePosition::Instance(Some(last)));
                false
            }
            PicturePosition::Node(after) => {
                let page = registry.nodes_after(after.as_deref(), PAGE_ENTRIES);
                for node in &page {
                    let count = self.counts.get(node.identity.name.as_str()).copied().unwrap_or_default();
                    put(&mut self.nodes, &view::node(registry, node, count));
                }
                let last = page.last().filter(|_| page.len() == PAGE_ENTRIES);
                let last = last.map(|node| node.identity.name.clone());
                let is_last = last.is_none();
                self.place = PicturePosition::Node(last);
                is_last
            }
        }
    }

    fn frame(mut self) -> Bytes {
        let parts = [
            &br#"{"op":"registry","nodes":["#[..],
            &mem::take(&mut self.nodes),
            br#"],"instances":["#,
            &mem::take(&mut self.instances),
            b"]}",
        ];
        let mut out = Vec::new();
        frame::write_header(Opcode::Text, true, None, parts.iter().map(|part| part.len()).sum(), &mut out);
        parts.iter().for_each(|part| out.extend_from_slice(part));
        out.into()
    }
}

/// Appends an element of a list.
fn put(list: &mut Vec<u8>, element: &impl Serialize) {
    if !list.is_empty() {
        list.push(b',');
    }
    // Views contain only text, numbers and lists, so JSON cannot fail.
    let _ = serde_json::to_writer(list, element);
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use oasis_dac::{Config, Dac};
    use oasis_wire::{probe_kind::ProbeKind, schema::ProbeType, stored::StoredInstance};
    use serde_json::Value;

    /// Returns a DAC with offline nodes, each with this number of instances.
    pub fn registry_of(nodes: usize, instances: usize) -> Arc<Dac> {
        let _guard = tokio::runtime::Handle::try_current().is_err().then(|| RUNTIME.enter());
        let dac = Dac::new(Config::default());
        let schema = r#"{"name": "X", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11", "version": "1.0", "metrics": []}"#;
        let probe_type: Arc<ProbeType> = Arc::new(serde_json::from_str(schema).unwrap());
        let stored = |number: usize| StoredInstance {
            node: format!("node-{}", number / instances).into(),
            instance: format!("instance-{}", number % instances).into(),
            probe_type: probe_type.clone(),
            kind: ProbeKind::Pushed,
            run: Default::default(),
            runs: Vec::new(),
            last_time: 0,
        };
        let counts = dac.registry.restore(&[], (0..nodes * instances).map(stored).collect());
        assert_eq!(counts.instances, nodes * instances);
        dac
    }

    static RUNTIME: std::sync::LazyLock<tokio::runtime::Runtime> =
        std::sync::LazyLock::new(|| tokio::runtime::Runtime::new().unwrap());

    #[test]
    fn a_picture_is_written_a_page_a_turn_and_then_shared() {
        let dac = registry_of(100, 10);
        let mut picture = Picture::default();
        let turns = (1..).find(|_| picture.present(&dac.registry).is_some()).unwrap();
        assert!(turns >= 1_000 / PAGE_ENTRIES + 100 / PAGE_ENTRIES, "{turns}");
        let (version, frame) = picture.present(&dac.registry).unwrap();
        assert_eq!(version, dac.registry.version());
        assert_eq!(picture.present(&dac.registry).unwrap().1.as_ptr(), frame.as_ptr(), "the same memory");
        let text = frame.iter().position(|&byte| byte == b'{').unwrap();
        let json: Value = serde_json::from_slice(&frame[text..]).unwrap();
        assert_eq!(json["op"], "registry");
        assert_eq!(json["instances"].as_array().unwrap().len(), 1_000);
        assert_eq!(json["nodes"].as_array().unwrap().len(), 100);
        assert!(json["nodes"].as_array().unwrap().iter().all(|node| node["instances"] == 10));
    }

    #[test]
    fn a_picture_of_nothing_is_a_message_too() {
        let dac = registry_of(0, 1);
        let mut picture = Picture::default();
        while picture.present(&dac.registry).is_none() {}
        let (_, frame) = picture.present(&dac.registry).unwrap();
        assert!(frame.ends_with(br#"{"op":"registry","nodes":[],"instances":[]}"#), "{frame:?}");
    }
}
