//! The links: sockets and serial lines, a thread each.

use crate::{address::Address, frame, receiver::Way};
use oasis_handler::Stopping;
use oasis_serial::SerialPort;
use std::{
    io::{self, ErrorKind},
    net::{SocketAddr, ToSocketAddrs, UdpSocket},
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError, mpsc::SyncSender},
    time::{Duration, Instant},
};

/// Longest wait for bytes, after which a link sees whether it has to stop.
const READ_TIMEOUT: Duration = Duration::from_millis(100);
/// Pause before a link is opened again.
const REOPEN_DELAY: Duration = Duration::from_secs(1);
/// Bytes of a read: more than senders put into a datagram. Longer ones are cut.
const READ_CHUNK_BYTES: usize = 9_216;
/// Time between two HEARTBEATs to a peer that waits for them.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(1);
/// The sender of these: an onboard computer of a system that is neither a vehicle (1) nor a ground station (255). A vehicle takes no
/// action when such a sender disappears, nor is the loss of its ground station hidden from it.
const OWN_ADDRESS: (u8, u8) = (254, 191);
/// The fields of these: no mode, type MAV_TYPE_ONBOARD_CONTROLLER, autopilot MAV_AUTOPILOT_INVALID, state MAV_STATE_ACTIVE, version 3.
const OWN_HEARTBEAT: [u8; 9] = [0, 0, 0, 0, 18, 8, 0, 4, 3];
/// `CRC_EXTRA` of HEARTBEAT.
const HEARTBEAT_CRC_EXTRA: u8 = 50;

/// Bytes of a link.
#[derive(Debug)]
pub struct Chunk {
    pub way: Way,
    pub bytes: Vec<u8>,
}

/// A link of the configuration.
#[derive(Debug)]
pub struct Link {
    pub address: Address,
    state: Mutex<LinkState>,
}

/// Whether a link is open.
#[derive(Debug, Clone, Default)]
pub struct LinkState {
    /// The address that it listens at.
    pub local: Option<SocketAddr>,
    pub is_open: bool,
    /// Bytes that it has received.
    pub bytes: u64,
    /// Why it was not opened, or ended.
    pub newest_failure: Option<String>,
}

/// The receiver has ended.
struct Ended;

impl Link {
    /// Creates a link that is not open.
    pub fn new(address: Address) -> Self {
        Self { address, state: Mutex::default() }
    }

    /// Returns its state.
    pub fn state(&self) -> MutexGuard<'_, LinkState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Receives bytes until it has to stop. Opens the link again after a failure.
    pub fn run(&self, number: usize, chunks: &SyncSender<Chunk>, stopping: &Stopping) {
        let output = Output { link: self, number, chunks };
        while !stopping.is_stopping() {
            let ended = match &self.address {
                Address::UdpIn(at) => self.listen(at, &output, stopping),
                Address::UdpOut(at) => self.connect(at, &output, stopping),
                Address::Serial { path, baud } => self.read_line(path, *baud, &output, stopping),
            };
            let mut state = self.state();
            state.is_open = false;
            let Err(error) = ended else { return };
            let (link, error) = (self.address.to_string(), self.explain(&error));
            if state.newest_failure.as_ref() != Some(&error) {
                tracing::warn!(link, error, "no MAVLink");
            }
            state.newest_failure = Some(error);
            drop(state);
            if stopping.wait_for(REOPEN_DELAY) {
                return;
            }
        }
    }

    /// Describes a failure, with a remedy if one is known.
    fn explain(&self, error: &io::Error) -> String {
        let remedy = match (error.kind(), &self.address) {
            (ErrorKind::AddrInUse, Address::UdpIn(at)) => format!(
                ": another program, such as a ground station, has the port of {at}: end it, or use a free HOST:PORT (mavlink.links)"
            ),
            (ErrorKind::AddrNotAvailable, Address::UdpIn(at)) => {
                format!(": {at} is no address of this host: name one of its own, or 0.0.0.0 (mavlink.links)")
            }
            _ => String::new(),
        };
        format!("{error}{remedy}")
    }

    fn set_open(&self, local: Option<SocketAddr>) {
        let mut state = self.state();
        (state.is_open, state.local, state.newest_failure) = (true, local, None);
    }

    fn listen(&self, at: &str, output: &Output<'_>, stopping: &Stopping) -> io::Result<()> {
        let socket = UdpSocket::bind(at)?;
        socket.set_read_timeout(Some(READ_TIMEOUT))?;
        self.set_open(Some(socket.local_addr()?));
        let mut buffer = vec![0; READ_CHUNK_BYTES];
        while !stopping.is_stopping() {
            match socket.recv_from(&mut buffer) {
                Ok((length, peer)) => {
                    if output.push(Some(peer), buffer.get(..length).unwrap_or_default()).is_err() {
                        return Ok(());
                    }
                }
                Err(error) => ignore_transient(error)?,
            }
        }
        Ok(())
    }

    /// Exchanges datagrams with one peer, which learns this address from HEARTBEATs.
    fn connect(&self, at: &str, output: &Output<'_>, stopping: &Stopping) -> io::Result<()> {
        let no_address = || io::Error::new(ErrorKind::NotFound, "the host has no address");
        let peer = at.to_socket_addrs()?.next().ok_or_else(no_address)?;
        let own: SocketAddr = if peer.is_ipv4() { ([0, 0, 0, 0], 0).into() } else { ([0_u16; 8], 0).into() };
        let socket = UdpSocket::bind(own)?;
        socket.connect(peer)?;
        socket.set_read_timeout(Some(READ_TIMEOUT))?;
        self.set_open(Some(socket.local_addr()?));
        let mut buffer = vec![0; READ_CHUNK_BYTES];
        let (mut sequence, mut sent) = (0_u8, None::<Instant>);
        while !stopping.is_stopping() {
            if sent.is_none_or(|sent| sent.elapsed() >= HEARTBEAT_INTERVAL) {
                let heartbeat = frame::encode(OWN_ADDRESS, sequence, 0, &OWN_HEARTBEAT, HEARTBEAT_CRC_EXTRA);
                if let Err(error) = socket.send(&heartbeat) {
                    ignore_transient(error)?;
                }
                (sequence, sent) = (sequence.wrapping_add(1), Some(Instant::now()));
            }
            match socket.recv(&mut buffer) {
                Ok(length) => {
                    if output.push(Some(peer), buffer.get(..length).unwrap_or_default()).is_err() {
                        return Ok(());
                    }
                }
                Err(error) => ignore_transient(error)?,
            }
        }
        Ok(())
    }

    fn read_line(&self, path: &Path, baud: u32, output: &Output<'_>, stopping: &Stopping) -> io::Result<()> {
        let mut port = SerialPort::open(path, baud)?;
        self.set_open(None);
        let mut buffer = vec![0; READ_CHUNK_BYTES];
        while !stopping.is_stopping() {
            let length = port.read(&mut buffer, READ_TIMEOUT)?;
            if length > 0 && output.push(None, buffer.get(..length).unwrap_or_default()).is_err() {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// The way of bytes to the receiver.
struct Output<'a> {
    link: &'a Link,
    number: usize,
    chunks: &'a SyncSender<Chunk>,
}

impl Output<'_> {
    /// Passes bytes on. Waits if the receiver is slower: then the system drops datagrams, and numbers of frames show the loss.
    fn push(&self, peer: Option<SocketAddr>, bytes: &[u8]) -> Result<(), Ended> {
        let way = Way { link: self.number, peer };
        self.link.state().bytes += bytes.len() as u64;
        self.chunks.send(Chunk { way, bytes: bytes.to_vec() }).map_err(|_| Ended)
    }
}

/// Timeouts are no failures, and neither is a peer that does not listen yet.
fn ignore_transient(error: io::Error) -> io::Result<()> {
    match error.kind() {
        ErrorKind::WouldBlock
        | ErrorKind::TimedOut
        | ErrorKind::Interrupted
        | ErrorKind::ConnectionRefused => Ok(()),
        _ => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_in_use_has_a_remedy() {
        let other = UdpSocket::bind("127.0.0.1:0").unwrap();
        let at = other.local_addr().unwrap().to_string();
        let error = UdpSocket::bind(&at).unwrap_err();
        let explained = Link::new(Address::UdpIn(at.clone())).explain(&error);
        assert!(explained.contains(&at) && explained.contains("mavlink.links"), "{explained}");
        let lost = Link::new(Address::UdpIn(at)).explain(&ErrorKind::ConnectionReset.into());
        assert!(!lost.contains("mavlink.links"), "{lost}");
    }
}
