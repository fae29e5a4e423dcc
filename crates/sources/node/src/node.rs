//! A node of a source: a session of the DAC without a socket.

use crate::{
    Rejected, SourceLimits, SourceSample,
    series::{Registration, Series},
};
use oasis_channel::{
    DacMessage, Failure, InstanceState, NodeIdentity, NodeMessage, Outcome, PROTOCOL, ProbeKind,
    RegisteredInstance, frame::Frame,
};
use oasis_dac::{Dac, now, session::NodeSession};
use oasis_wire::schema::ProbeType;
use std::{collections::HashMap, sync::Arc};
use tokio::sync::mpsc;
use uuid::Uuid;

/// Commands to a node that wait for their refusal.
const COMMAND_CAPACITY: usize = 8;
/// The namespace of nodes (RFC 9562, version 5).
const NAMESPACE: Uuid = Uuid::from_u128(0x6c1d_93b4_5a20_4f7e_8b16_d2e4_07c9_3f58);

/// A node and its instances.
pub struct SourceNode {
    link: Link,
    series: HashMap<String, Series>,
    /// Instances with samples that are not sent yet.
    unsent: Vec<String>,
}

/// The session of a node.
struct Link {
    dac: Arc<Dac>,
    session: NodeSession,
    commands: mpsc::Receiver<DacMessage>,
}

impl SourceNode {
    /// Connects a node.
    ///
    /// # Errors
    /// If another node has its name.
    pub fn connect(dac: Arc<Dac>, name: &str, software: &str) -> Result<Self, Failure> {
        let (outbound, commands) = mpsc::channel(COMMAND_CAPACITY);
        let session = NodeSession::new(dac.clone(), outbound).of_this_process();
        let node = NodeIdentity {
            name: name.to_owned(),
            uuid: Uuid::new_v5(&NAMESPACE, name.as_bytes()),
            run: Uuid::new_v4(),
            host: "dac".into(),
            software: software.into(),
            pid: std::process::id(),
        };
        let mut link = Link { dac, session, commands };
        link.handle(&NodeMessage::Hello {
            protocol: PROTOCOL,
            node,
            secret: None,
            attach: None,
            drains: false,
        })?;
        Ok(Self { link, series: HashMap::new(), unsent: Vec::new() })
    }

    /// Returns whether it has an instance.
    pub fn has(&self, instance: &str) -> bool {
        self.series.contains_key(instance)
    }

    /// Adds a sample. Returns the number of its fields that are left out.
    ///
    /// # Errors
    /// If it is rejected.
    pub fn push(&mut self, sample: &SourceSample<'_>, limits: SourceLimits) -> Result<u64, Rejected> {
        let pushed = match self.series.get_mut(sample.instance) {
            Some(series) => self.link.push(series, sample, limits)?,
            None => {
                let mut series = Series::default();
                let pushed = self.link.push(&mut series, sample, limits)?;
                self.series.insert(sample.instance.to_owned(), series);
                pushed
            }
        };
        if pushed.begins_batch {
            self.unsent.push(sample.instance.to_owned());
        }
        Ok(pushed.left_out)
    }

    /// Sends all samples, wakes their readers, and refuses commands. Returns how many whole numbers were rounded.
    pub fn flush(&mut self) -> u64 {
        let mut rounded = 0;
        for instance in self.unsent.drain(..) {
            if let Some(series) = self.series.get_mut(&instance) {
                self.link.send(series, &instance);
                rounded += series.take_rounded();
            }
        }
        self.link.acknowledge();
        rounded
    }
}

/// A sample that was added.
struct Pushed {
    left_out: u64,
    begins_batch: bool,
}

impl Link {
    fn push(
        &mut self,
        series: &mut Series,
        sample: &SourceSample<'_>,
        limits: SourceLimits,
    ) -> Result<Pushed, Rejected> {
        let left_out = series.learn(sample, limits)?;
        if !series.is_current() {
            self.send(series, sample.instance);
            let probe_type = series.retype(sample.type_name)?;
            series.registration = Some(self.register(sample.instance, &probe_type)?);
        }
        series.pack(sample.fields)?;
        if series.is_full() {
            self.send(series, sample.instance);
        }
        Ok(Pushed { left_out, begins_batch: series.push(sample.time)? })
    }

    fn register(&mut self, name: &str, probe_type: &Arc<ProbeType>) -> Result<Registration, Rejected> {
        let announced = RegisteredInstance {
            name: name.to_owned(),
            probe_type: probe_type.uuid,
            kind: ProbeKind::Pushed,
            demand: None,
            declared: None,
            state: InstanceState { hertz: None, enabled: true, recorder: None },
        };
        let types = vec![(**probe_type).clone()];
        let answers = self.handle(&NodeMessage::Register { types, instances: vec![announced] });
        let answers = answers.map_err(|failure| Rejected::refused(name, &failure))?;
        let topic = answers.into_iter().find_map(|answer| match answer {
            DacMessage::Registered { topics } => topics.first().map(|assigned| assigned.topic),
            _ => None,
        });
        let instance = topic.and_then(|topic| self.dac.registry.instance(topic));
        let instance = instance.ok_or_else(|| Rejected::Refused(format!("{name:?}: it has no topic")))?;
        Ok(Registration { topic: instance.topic, next_sequence: instance.ledger().last_sequence + 1 })
    }

    fn send(&mut self, series: &mut Series, instance: &str) {
        let Some(batch) = series.take_batch(now().0) else { return };
        if let Err(failure) = self.session.handle(Frame::Batch(&batch), now(), &mut Vec::new()) {
            tracing::error!(instance, failure = failure.message, "samples of a source are refused");
        }
    }

    fn acknowledge(&mut self) {
        self.session.acknowledge(now(), &mut Vec::new());
        while let Ok(message) = self.commands.try_recv() {
            if let DacMessage::Command { id, .. } = message {
                let failure =
                    Failure::new("not_a_probe", "another program sends these samples: set their rate there");
                // The caller may have given up.
                let _ = self.handle(&NodeMessage::Result { id, outcome: Outcome::Failed(failure) });
            }
        }
    }

    fn handle(&mut self, message: &NodeMessage) -> Result<Vec<DacMessage>, Failure> {
        let json = serde_json::to_vec(message)
            .map_err(|error| Failure::new("message_invalid", error.to_string()))?;
        let mut answers = Vec::new();
        self.session.handle(Frame::Control(&json), now(), &mut answers)?;
        Ok(answers)
    }
}

impl Drop for SourceNode {
    fn drop(&mut self) {
        self.flush();
        self.link.session.close(now());
    }
}
