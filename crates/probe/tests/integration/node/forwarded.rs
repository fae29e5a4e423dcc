//! A node whose samples come from a device, and a DAC that records.

use super::{
    reading,
    recorder::{ToRecorder, recorder},
};
use oasis_channel::{
    Connector, InstanceState, NodeMessage, Receiver, RegisteredInstance, ResumeSecret, Sender,
};
use oasis_probe::{
    NodeConfig,
    forward::{ForwardedNode, Missing, Session},
};
use oasis_wire::{probe_kind::ProbeKind, quantity::Epoch};
use std::{
    io,
    sync::{Arc, Mutex},
};

/// A connection on which the device takes nine samples while its node says goodbye for the first time.
struct LateDevice {
    to_dac: ToRecorder,
    node: Arc<Mutex<Option<ForwardedNode>>>,
}

struct LateSender {
    inner: Box<dyn Sender>,
    node: Arc<Mutex<Option<ForwardedNode>>>,
}

impl Connector for LateDevice {
    fn connect(&mut self) -> io::Result<(Box<dyn Sender>, Box<dyn Receiver>)> {
        let (inner, receiver) = self.to_dac.connect()?;
        Ok((Box::new(LateSender { inner, node: self.node.clone() }), receiver))
    }

    fn target(&self) -> String {
        self.to_dac.target()
    }
}

impl Sender for LateSender {
    fn send(&mut self, control: &[NodeMessage], batches: &[&[u8]]) -> io::Result<()> {
        let says_goodbye = control.iter().any(|message| matches!(message, NodeMessage::Goodbye { .. }));
        if says_goodbye && let Some(node) = &*self.node.lock().unwrap() {
            node.taken(0, 9, Missing::default());
        }
        self.inner.send(control, batches)
    }

    fn close(&mut self) {
        self.inner.close();
    }
}

fn session() -> Session {
    let instance = RegisteredInstance {
        name: "reading".into(),
        probe_type: reading().uuid,
        kind: ProbeKind::Pushed,
        demand: None,
        state: InstanceState { hertz: None, enabled: true, recorder: None },
        declared: None,
    };
    Session {
        secret: ResumeSecret::random(),
        software: "device".into(),
        types: vec![reading()],
        instances: vec![instance],
    }
}

#[test]
fn what_a_device_took_while_its_node_said_goodbye_is_told_over_another_connection() {
    let (to_dac, recorder) = recorder();
    recorder.live(Epoch(1));
    let node = Arc::new(Mutex::new(None));
    let connector = LateDevice { to_dac, node: node.clone() };
    let forwarded =
        ForwardedNode::start("pump", session(), NodeConfig::default(), Box::new(connector)).unwrap();
    recorder.wait_for_connections(1);
    node.lock().unwrap().insert(forwarded).set_present(false);
    recorder.wait_for_goodbyes(2);
    assert_eq!(recorder.counters("reading").taken, 9);
}
