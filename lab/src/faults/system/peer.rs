//! A hostile peer at the data channel: says what it likes, frame by frame.

use anyhow::{Context, bail};
use oasis_channel::frame::HEADER;
use oasis_wire::batch::{Encoder, Fields};
use oasis_wire::schema::ProbeType;
use serde_json::{Value, json};
use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

const SOCKET_TIMEOUT: Duration = Duration::from_secs(10);
/// Kind of a frame with a batch.
const BATCH: u8 = 1;
/// Kind of a frame with a control message.
const CONTROL: u8 = 2;
/// The UUID of everything that hostile peers declare.
pub const UUID: &str = "6f1b7c1e-3a55-4d5e-8c57-2f6e4f1f9d01";

/// A connection.
#[derive(Debug)]
pub struct Peer(TcpStream);

impl Peer {
    /// Connects.
    pub fn connect(channel: &str) -> anyhow::Result<Self> {
        let place: SocketAddr = channel.parse()?;
        let stream = TcpStream::connect_timeout(&place, SOCKET_TIMEOUT)?;
        stream.set_read_timeout(Some(SOCKET_TIMEOUT))?;
        stream.set_write_timeout(Some(SOCKET_TIMEOUT))?;
        Ok(Self(stream))
    }

    /// Connects and says hello under this name.
    pub fn named(channel: &str, name: &str) -> anyhow::Result<Self> {
        let mut peer = Self::connect(channel)?;
        peer.hello(json!({"name": name, "run": UUID}))?;
        Ok(peer)
    }

    /// Says hello; `node` has the fields that are not the usual ones.
    pub fn hello(&mut self, node: Value) -> anyhow::Result<()> {
        let mut hello = json!({"op": "hello", "protocol": 1, "node":
            {"name": "", "uuid": UUID, "run": UUID, "host": "h", "software": "s", "pid": 1}});
        for (key, value) in node.as_object().into_iter().flatten() {
            hello["node"][key] = value.clone();
        }
        self.control(&hello)
    }

    /// Registers instances of a type, and returns their topics.
    pub fn register(&mut self, probe_type: &ProbeType, instances: &[String]) -> anyhow::Result<Vec<u32>> {
        let instances: Vec<_> = instances
            .iter()
            .map(|name| json!({"name": name, "type": probe_type.uuid, "kind": "pushed", "enabled": true}))
            .collect();
        self.control(&json!({"op": "register", "types": [probe_type], "instances": instances}))?;
        let registered = self.answer("registered")?;
        let topics = registered["topics"].as_array().context("an answer without topics")?.iter();
        let topics = topics.filter_map(|topic| topic["topic"].as_u64()).map(u32::try_from);
        Ok(topics.collect::<Result<_, _>>()?)
    }

    /// Sends a control message.
    pub fn control(&mut self, message: &Value) -> anyhow::Result<()> {
        self.frame(CONTROL, message.to_string().as_bytes())
    }

    /// Sends a batch of samples of a type whose metrics are all unsigned numbers.
    pub fn batch(
        &mut self,
        probe_type: &ProbeType,
        (topic, first_sequence): (u32, u64),
        samples: impl IntoIterator<Item = Vec<u64>>,
    ) -> anyhow::Result<()> {
        let mut encoder = Encoder::new(probe_type)?;
        let time = oasis_probe::now_ns();
        for sample in samples {
            let row: Vec<u8> = sample.into_iter().flat_map(u64::to_le_bytes).collect();
            encoder.push(time, &row)?;
        }
        let mut batch = Vec::new();
        encoder.finish(Fields { topic, first_sequence, node_time: time, ..Fields::default() }, &mut batch);
        self.frame(BATCH, &batch)
    }

    fn frame(&mut self, kind: u8, body: &[u8]) -> anyhow::Result<()> {
        let mut bytes = u32::try_from(body.len() + 1)?.to_le_bytes().to_vec();
        bytes.push(kind);
        bytes.extend_from_slice(body);
        self.bytes(&bytes)
    }

    /// Sends any bytes.
    pub fn bytes(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        self.0.write_all(bytes).context("the DAC has closed the connection")
    }

    /// The next message of this kind.
    pub fn answer(&mut self, op: &str) -> anyhow::Result<Value> {
        loop {
            let mut head = [0; HEADER];
            self.0.read_exact(&mut head).context("the DAC has closed the connection")?;
            let [a, b, c, d, _] = head;
            let mut body = vec![0; (u32::from_le_bytes([a, b, c, d]) as usize).saturating_sub(1)];
            self.0.read_exact(&mut body)?;
            let message: Value = serde_json::from_slice(&body).unwrap_or_default();
            if message["op"] == op {
                return Ok(message);
            }
            if message["op"] == "refused" {
                bail!("refused: {message}");
            }
        }
    }

    /// Waits until the DAC closes the connection, or is silent for a while.
    pub fn wait_for_end(&mut self) {
        let _ = self.0.set_read_timeout(Some(Duration::from_secs(1)));
        while self.answer("refused").is_ok() {}
    }
}

/// A type of unsigned numbers with these names.
pub fn numbers(metrics: &[String]) -> anyhow::Result<ProbeType> {
    let metrics: Vec<_> = metrics.iter().map(|name| json!({"name": name, "type": "uint64"})).collect();
    let probe_type = json!({"name": "T", "uuid": UUID, "version": "1.0", "metrics": metrics});
    Ok(serde_json::from_value(probe_type)?)
}
