//! The limit: a WebSocket that sends the readings of the same sensor and does nothing else. There is no node, no DAC and no log.

use super::sensor::Simulator;
use crate::order::ready;
use anyhow::Context;
use clap::Args;
use oasis_probe::now_ns;
use oasis_probes::windsonic::message::{Message, Messages};
use std::{
    fs::File,
    io::{self, Read},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex, PoisonError},
    thread,
};
use tokio_tungstenite::tungstenite::{self, WebSocket, accept};

/// Connections that get readings.
type Clients = Arc<Mutex<Vec<WebSocket<TcpStream>>>>;

/// A process with a simulated anemometer and a server of its readings; the end of its standard input ends it.
#[derive(Debug, Args)]
pub struct BareServer {}

impl BareServer {
    /// Sends readings until there is no more input.
    pub fn run(&self) -> anyhow::Result<()> {
        let folder = tempfile::tempdir()?;
        let line = folder.path().join("line");
        let _simulator = Simulator::plug_in(&line, false).context("cannot make a pseudo-terminal")?;
        let tty = File::open(&line).context("cannot open the pseudo-terminal")?;
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let clients = Clients::default();
        let known = clients.clone();
        thread::Builder::new().name("bare-accept".into()).spawn(move || accept_all(&listener, &known))?;
        thread::Builder::new().name("bare-read".into()).spawn(move || send_all(tty, &clients))?;
        ready(&[address.to_string()])?;
        io::copy(&mut io::stdin().lock(), &mut io::sink())?;
        Ok(())
    }
}

fn accept_all(listener: &TcpListener, clients: &Clients) {
    for stream in listener.incoming().flatten() {
        // A client that does not finish its handshake holds up the others: there is one.
        if stream.set_nodelay(true).is_ok()
            && let Ok(socket) = accept(stream)
        {
            clients.lock().unwrap_or_else(PoisonError::into_inner).push(socket);
        }
    }
}

/// Sends each reading to all clients, until the line ends. A client that fails gets no more.
fn send_all(mut tty: File, clients: &Clients) {
    let (mut messages, mut buffer) = (Messages::default(), [0; 256]);
    while let Ok(length @ 1..) = tty.read(&mut buffer) {
        for message in buffer[..length].iter().filter_map(|byte| messages.take(*byte)?.ok()) {
            let reading = tungstenite::Bytes::from(reading(now_ns(), &message));
            let mut clients = clients.lock().unwrap_or_else(PoisonError::into_inner);
            clients.retain_mut(|client| client.send(tungstenite::Message::Binary(reading.clone())).is_ok());
        }
    }
}

/// The time in milliseconds since 1970, direction and speed, little-endian.
fn reading(time: u64, message: &Message) -> Vec<u8> {
    let time = (time as f64 / 1e6).to_le_bytes();
    let metrics = [message.direction, message.speed].map(|metric| metric.unwrap_or(f32::NAN).to_le_bytes());
    [&time[..], metrics.as_flattened()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reading_is_its_time_and_its_metrics() {
        let message = Message { node: 'Q', direction: None, speed: Some(2.5), status: 0 };
        let bytes = reading(1_500_000, &message);
        assert_eq!(f64::from_le_bytes(bytes[..8].try_into().expect("eight bytes")), 1.5);
        assert!(f32::from_le_bytes(bytes[8..12].try_into().expect("four bytes")).is_nan());
        assert_eq!(f32::from_le_bytes(bytes[12..].try_into().expect("four bytes")), 2.5);
    }
}
