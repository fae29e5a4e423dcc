//! The lines of a gateway: a file each. Each has threads of its own that read, and [`Station`](crate::station::Station)s that know what the bytes mean.

mod serial;
mod tcp;
mod udp;

use crate::{device::Moment, registry::Registry, station::Station, stats::LineStats};
use oasis_probe::now_ns;
use std::{
    fmt, io,
    net::{SocketAddr, ToSocketAddrs},
    num::NonZeroU32,
    path::PathBuf,
    str::FromStr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// Rate of a serial line that names none.
const BAUD: u32 = 115_200;
/// Longest wait for bytes before a thread does what else is due.
const READ_TIMEOUT: Duration = Duration::from_millis(20);
/// Delay before a thread opens a line again.
const REOPEN_DELAY: Duration = Duration::from_secs(1);
/// Bytes of one read.
const READ_CHUNK_BYTES: usize = 4_096;

/// Address of devices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineAddress {
    /// A serial port, or a pseudo-terminal.
    Serial {
        /// Its file.
        path: PathBuf,
        /// Bits a second.
        baud: u32,
    },
    /// An address of this host that takes datagrams.
    Udp(String),
    /// An address of this host that takes connections.
    Tcp(String),
}

/// A text that is no address of a line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "write serial:PATH, serial:PATH,BAUD, udp:HOST:PORT or tcp:HOST:PORT, such as serial:/dev/ttyUSB0,115200 or udp:0.0.0.0:7080"
)]
pub struct LineAddressError;

impl FromStr for LineAddress {
    type Err = LineAddressError;

    fn from_str(text: &str) -> Result<Self, LineAddressError> {
        let has_port = |address: &str| {
            address
                .rsplit_once(':')
                .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
        };
        match text.split_once(':') {
            Some(("serial", port)) => Self::serial(port),
            Some(("udp", address)) if has_port(address) => Ok(Self::Udp(address.into())),
            Some(("tcp", address)) if has_port(address) => Ok(Self::Tcp(address.into())),
            _ => Err(LineAddressError),
        }
    }
}

impl serde::Serialize for LineAddress {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Serial { .. } => serializer.collect_str(&format_args!("serial:{self}")),
            Self::Udp(_) | Self::Tcp(_) => serializer.collect_str(self),
        }
    }
}

impl<'de> serde::Deserialize<'de> for LineAddress {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// `[gateway]`
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GatewayConfig {
    /// Address of devices.
    pub devices: Vec<LineAddress>,
    /// Names of devices that always get a place; `*` is any text.
    pub known: Vec<String>,
}

impl LineAddress {
    /// Reads `PATH` or `PATH,BAUD`.
    ///
    /// # Errors
    /// If there is no path, or the rate is no number above 0.
    pub fn serial(text: &str) -> Result<Self, LineAddressError> {
        let (path, baud) = match text.rsplit_once(',') {
            Some((path, baud)) => (path, baud.parse().map(NonZeroU32::get).map_err(|_| LineAddressError)?),
            None => (text, BAUD),
        };
        if path.is_empty() { Err(LineAddressError) } else { Ok(Self::Serial { path: path.into(), baud }) }
    }

    /// Returns the name of the instance with its counters.
    pub fn instance(&self) -> String {
        let name = match self {
            Self::Serial { path, .. } => {
                path.strip_prefix("/dev").unwrap_or(path).to_string_lossy().into_owned()
            }
            Self::Udp(_) | Self::Tcp(_) => self.to_string(),
        };
        // A slash would divide the name of a node from that of an instance.
        let name: String =
            name.trim_start_matches('/').replace('/', "-").chars().filter(|c| !c.is_control()).collect();
        format!("line {name}")
    }
}

impl fmt::Display for LineAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Serial { path, baud } => write!(f, "{},{baud}", path.display()),
            Self::Udp(address) => write!(f, "udp:{address}"),
            Self::Tcp(address) => write!(f, "tcp:{address}"),
        }
    }
}

/// A line that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("cannot take devices at {address}: {error}")]
pub struct LineError {
    address: LineAddress,
    error: io::Error,
}

/// The threads of a line.
#[derive(Debug)]
pub struct Line {
    /// As it was named; with the port that the system has chosen for port 0.
    pub address: LineAddress,
    /// Its counters.
    pub stats: Arc<LineStats>,
    threads: Vec<JoinHandle<()>>,
}

/// State that the threads of a line share.
#[derive(Clone)]
struct Shared {
    registry: Arc<Registry>,
    stats: Arc<LineStats>,
    stopping: Arc<AtomicBool>,
}

impl Shared {
    fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    fn station(&self, what: &str, is_datagrams: bool) -> Station {
        Station::new(what, is_datagrams, self.registry.clone(), self.stats.clone())
    }

    fn set_open(&self, is_open: bool) {
        self.stats.is_open.store(is_open, Ordering::Relaxed);
    }

    fn note_sent(&self, bytes: usize) {
        LineStats::add(&self.stats.sent, bytes as u64);
    }

    /// Waits before a line is opened again; less if the gateway ends.
    fn pause(&self) {
        let until = Instant::now() + REOPEN_DELAY;
        while !self.is_stopping() && Instant::now() < until {
            thread::sleep(READ_TIMEOUT);
        }
    }
}

impl Line {
    /// Opens a line. A serial port need not exist yet.
    ///
    /// # Errors
    /// If an address cannot be listened on, or there can be no thread.
    pub fn open(
        address: &LineAddress,
        registry: &Arc<Registry>,
        stopping: &Arc<AtomicBool>,
    ) -> Result<Self, LineError> {
        let stats = Arc::<LineStats>::default();
        let shared = Shared { registry: registry.clone(), stats: stats.clone(), stopping: stopping.clone() };
        let opened = match address {
            LineAddress::Serial { path, baud } => {
                serial::start(path.clone(), *baud, shared).map(|threads| (address.clone(), threads))
            }
            LineAddress::Udp(at) => {
                udp::start(at, shared).map(|(at, threads)| (LineAddress::Udp(at), threads))
            }
            LineAddress::Tcp(at) => {
                tcp::start(at, shared).map(|(at, threads)| (LineAddress::Tcp(at), threads))
            }
        };
        let (address, threads) = opened.map_err(|error| LineError { address: address.clone(), error })?;
        Ok(Self { address, stats, threads })
    }

    /// Waits for the threads of a line, after they were asked to stop.
    pub fn join(self) {
        for thread in self.threads {
            let _ = thread.join();
        }
    }
}

fn moment() -> Moment {
    Moment { steady: Instant::now(), wall: now_ns() }
}

fn resolved(address: &str) -> io::Result<SocketAddr> {
    let nobody = || io::Error::new(io::ErrorKind::NotFound, "the host has no address");
    address.to_socket_addrs()?.next().ok_or_else(nobody)
}

/// Says who can reach an address beyond this host: the link has no keys.
fn warn_if_exposed(address: SocketAddr, what: &LineAddress) {
    if !address.ip().is_loopback() {
        tracing::warn!(line = %what, "every host that reaches this address can send samples as any device: use a network of its own, or a firewall");
    }
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    thread::Builder::new().name(name.into()).spawn(run)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_named_as_users_write_them() {
        let line = |text: &str| text.parse::<LineAddress>();
        let serial = |path: &str, baud| LineAddress::Serial { path: path.into(), baud };
        assert_eq!(line("serial:/dev/ttyUSB0"), Ok(serial("/dev/ttyUSB0", 115_200)));
        assert_eq!(LineAddress::serial("/dev/tty,S0,9600"), Ok(serial("/dev/tty,S0", 9_600)));
        assert_eq!(line("udp:[::1]:7080"), Ok(LineAddress::Udp("[::1]:7080".into())));
        assert_eq!(
            line("tcp:localhost:7080").map(|line| line.instance()),
            Ok("line tcp:localhost:7080".into())
        );
        assert_eq!(serial("/dev/pts/3", 9_600).instance(), "line pts-3");
        for wrong in [
            "",
            "serial:",
            "serial:,9600",
            "serial:/dev/ttyUSB0,fast",
            "serial:/dev/ttyUSB0,0",
            "udp:7080",
            "udp::7080",
            "tcp:host:port",
            "/dev/ttyUSB0",
        ] {
            assert_eq!(line(wrong), Err(LineAddressError), "{wrong}");
        }
    }
}
