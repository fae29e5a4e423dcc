//! A reader of a relay or DAC: a WebSocket that notes what comes twice, out of order, or is missing without a gap.

use super::union::Union;
use crate::faults::system::http;
use anyhow::{Context, anyhow};
use oasis_wire::batch::Header;
use serde_json::{Value, json};
use std::{
    net::{SocketAddr, TcpStream},
    ops::Range,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};
use tokio_tungstenite::tungstenite::{
    self, Message, WebSocket,
    client::{IntoClientRequest, client},
    http::HeaderValue,
};

/// Timeout of a read from the socket.
const READ_TIMEOUT: Duration = Duration::from_millis(200);
/// Delay before a subscription that failed is tried again.
const RETRY_DELAY: Duration = Duration::from_millis(50);

/// Samples that a reader has received.
#[derive(Debug, Default, Clone)]
pub struct Received {
    /// Samples.
    pub samples: u64,
    /// Samples that came again, or after later ones.
    pub repeated: u64,
    /// The first of them, and the last one before it.
    pub first_repeated: Option<(u64, u64)>,
    /// Missing numbers, and how many of them gaps have announced.
    pub jumps: Vec<(Range<u64>, u64)>,
    /// Subscriptions that ended.
    pub ended: u64,
    /// When the newest sample was sent by its node, nanoseconds since 1970.
    pub newest: u64,
    last: u64,
    /// Samples that gaps have announced since the last one.
    announced: u64,
}

impl Received {
    fn gap(&mut self, count: Option<u64>) {
        // Without a number any sample may be missing.
        self.announced = self.announced.saturating_add(count.unwrap_or(u64::MAX));
    }

    fn batch(&mut self, header: &Header) {
        let (first, count) = (header.first_sequence, u64::from(header.count));
        let expected = self.last + 1;
        if self.last > 0 && first < expected {
            self.repeated += count.min(expected - first);
            self.first_repeated.get_or_insert((first, self.last));
        }
        if self.last > 0 && first > expected {
            self.jumps.push((expected..first, self.announced));
        }
        self.announced = 0;
        self.samples += count;
        self.last = self.last.max(first + count - 1);
        self.newest = self.newest.max(header.node_time);
    }

    /// Returns the missing samples that neither a gap has announced nor an archive declares lost, and those that gaps have announced.
    pub fn missing(&self, union: &Union) -> (u64, u64) {
        let (mut unannounced, mut announced) = (0_u64, 0_u64);
        for (numbers, told) in &self.jumps {
            let missing = numbers.clone().filter(|number| !union.is_declared(*number)).count() as u64;
            unannounced += missing.saturating_sub(*told);
            announced += missing.min(*told);
        }
        (unannounced, announced)
    }
}

/// A thread that reads.
#[derive(Debug)]
pub struct Reader {
    received: Arc<Mutex<Received>>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Reader {
    /// Reads an instance from the DAC or relay at an address.
    pub fn start(address: &str, node: &str, instance: &str) -> Self {
        let (received, is_over) = (Arc::default(), Arc::<AtomicBool>::default());
        let mut reading = Reading {
            address: address.to_owned(),
            names: (node.to_owned(), instance.to_owned()),
            received: Arc::clone(&received),
            is_over: is_over.clone(),
            position: None,
        };
        let thread = thread::spawn(move || {
            while !reading.is_over.load(Ordering::Relaxed) {
                // Whatever ended it: the DAC may be gone for a while.
                let _ = reading.connection();
                thread::sleep(RETRY_DELAY);
            }
        });
        Self { received, is_over, thread: Some(thread) }
    }

    /// When the newest sample that has come was sent by its node, nanoseconds since 1970.
    pub fn newest(&self) -> u64 {
        lock(&self.received).newest
    }

    /// Ends it.
    pub fn finish(mut self) -> Received {
        self.end();
        lock(&self.received).clone()
    }

    fn end(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // A panic of the thread is one of the lab.
        self.thread.take().map(JoinHandle::join);
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.end();
    }
}

struct Reading {
    address: String,
    names: (String, String),
    received: Arc<Mutex<Received>>,
    is_over: Arc<AtomicBool>,
    /// Epoch, and offset of the next sample.
    position: Option<(String, u64)>,
}

impl Reading {
    /// Reads until the connection ends.
    fn connection(&mut self) -> anyhow::Result<()> {
        let place: SocketAddr = self.address.parse()?;
        let stream = TcpStream::connect_timeout(&place, Duration::from_secs(1))?;
        stream.set_read_timeout(Some(READ_TIMEOUT))?;
        let mut request = format!("ws://{}/ws", self.address).into_client_request()?;
        request.headers_mut().insert("Sec-WebSocket-Protocol", HeaderValue::from_static("oasis.v1"));
        let (mut socket, _) = client(request, stream).map_err(|error| anyhow!("{error}"))?;
        self.subscribe(&mut socket)?;
        while !self.is_over.load(Ordering::Relaxed) {
            match socket.read() {
                Ok(Message::Binary(bytes)) => {
                    let header = Header::parse(&bytes).context("an invalid batch")?;
                    lock(&self.received).batch(&header);
                    if let Some((_, next)) = &mut self.position {
                        *next = header.offset + u64::from(header.count);
                    }
                }
                Ok(Message::Text(text)) => self.message(&mut socket, &serde_json::from_str(&text)?)?,
                Ok(_) => {}
                Err(tungstenite::Error::Io(error)) if is_silence(&error) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn subscribe(&self, socket: &mut WebSocket<TcpStream>) -> anyhow::Result<()> {
        let (node, instance) = &self.names;
        let mut request = json!({"op": "subscribe", "id": 1, "node": node, "instance": instance});
        if let Some((epoch, offset)) = &self.position {
            let portable = self.run().map(|run| format!(" {run}@{}", lock(&self.received).last + 1));
            request["resume"] = format!("{epoch}:{offset}{}", portable.unwrap_or_default()).into();
        }
        Ok(socket.send(Message::text(request.to_string()))?)
    }

    /// The run of the node, as the registry has it.
    fn run(&self) -> Option<String> {
        let nodes = http::get(&self.address, "/api/v1/nodes").ok()?;
        let node = nodes["nodes"].as_array()?.iter().find(|node| node["name"] == *self.names.0)?;
        Some(node["run"].as_str()?.to_owned())
    }

    fn message(&mut self, socket: &mut WebSocket<TcpStream>, message: &Value) -> anyhow::Result<()> {
        let offset = message["offset"].as_u64().or(message["to"].as_u64());
        match message["op"].as_str().unwrap_or_default() {
            "subscribed" | "epoch" => {
                let epoch = message["epoch"].as_str().context("no epoch")?;
                self.position = Some((epoch.to_owned(), offset.context("no offset")?));
            }
            "gap" => {
                lock(&self.received).gap(message["count"].as_u64());
                if let (Some((_, next)), Some(to)) = (&mut self.position, offset) {
                    *next = to;
                }
            }
            "unsubscribed" | "error" => {
                lock(&self.received).ended += 1;
                thread::sleep(RETRY_DELAY);
                self.subscribe(socket)?;
            }
            _ => {}
        }
        Ok(())
    }
}

fn is_silence(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut)
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use oasis_wire::batch::{Encoder, Fields};

    fn header(first_sequence: u64, count: u64) -> Header {
        let beat = r#"{"name": "Beat", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11", "version": "1.0", "metrics": []}"#;
        let mut encoder = Encoder::new(&serde_json::from_str(beat).unwrap()).unwrap();
        (0..count).for_each(|time| encoder.push(time, &[]).unwrap());
        let mut bytes = Vec::new();
        encoder.finish(Fields { first_sequence, ..Fields::default() }, &mut bytes);
        Header::parse(&bytes).unwrap()
    }

    #[test]
    fn a_sample_again_and_one_that_is_missing_without_a_gap_are_counted() {
        let mut received = Received::default();
        received.batch(&header(5, 3));
        received.batch(&header(7, 2));
        assert_eq!((received.repeated, received.first_repeated), (1, Some((7, 7))));
        received.gap(Some(2));
        received.batch(&header(12, 1));
        assert_eq!(received.missing(&Union::default()), (1, 2));
        received.gap(None);
        received.batch(&header(20, 1));
        assert_eq!(received.missing(&Union::default()), (1, 9));
        assert_eq!(received.samples, 7);
    }
}
