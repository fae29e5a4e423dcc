//! The default channel in TLS: one connection, encrypted, whose DAC is checked by its certificate.
//!
//! The node's threads stay plain blocking code. The sending thread encrypts and writes, the receiving thread reads and decrypts. Both take the lock of the
//! session for that, and neither while it waits for the socket.

use crate::{
    Connector, Patience, Receiver, Sender,
    protection::{KEY_BYTES, LABEL},
    tcp::{self, Closing, TcpConnector},
};
use oasis_tls::{ClientFiles, TlsError, explain, tls_error};
use rustls::{ClientConfig, ClientConnection, pki_types::ServerName};
use std::{
    fmt,
    io::{self, ErrorKind, IoSlice, Read, Write},
    net::{IpAddr, Shutdown, TcpStream},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};
use uuid::Uuid;

/// Timeout of a handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout of the last record, if the socket is full.
const GOODBYE_TIMEOUT: Duration = Duration::from_millis(100);
/// Most bytes of one read.
const READ_SIZE: usize = 16 * 1024;

/// Source of the settings: files are read for each attempt, so that a new certificate needs no restart.
type Settings = Arc<dyn Fn() -> Result<Arc<ClientConfig>, TlsError> + Send + Sync>;

/// Connects to a DAC's channel address by TLS.
#[derive(Clone)]
pub struct TlsConnector {
    address: String,
    settings: Settings,
    patience: Patience,
}

impl TlsConnector {
    /// Creates a connector to `address` (`HOST:PORT`), whose certificate must be for that host.
    pub fn new(address: impl Into<String>, files: ClientFiles) -> Self {
        Self::with_settings(address, move || files.load())
    }

    /// The same with settings that are asked for at each attempt.
    pub fn with_settings(
        address: impl Into<String>,
        settings: impl Fn() -> Result<Arc<ClientConfig>, TlsError> + Send + Sync + 'static,
    ) -> Self {
        Self { address: address.into(), settings: Arc::new(settings), patience: Patience::ONE_DAC }
    }

    /// Sets how long the node waits for the DAC.
    #[must_use]
    pub fn with_patience(self, patience: Patience) -> Self {
        Self { patience, ..self }
    }
}

impl fmt::Debug for TlsConnector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsConnector").field("address", &self.address).finish_non_exhaustive()
    }
}

/// An open connection: its halves, its session and the address of the DAC.
pub(crate) struct OpenTls {
    pub(crate) halves: (Box<dyn Sender>, Box<dyn Receiver>),
    pub(crate) session: Arc<Mutex<ClientConnection>>,
    pub(crate) dac: IpAddr,
}

impl TlsConnector {
    /// Opens a connection.
    pub(crate) fn open(&self) -> io::Result<OpenTls> {
        let config = (self.settings)().map_err(io::Error::other)?;
        let name = server_name(&self.address)?;
        let mut session = ClientConnection::new(config, name).map_err(io::Error::other)?;
        let mut socket = TcpConnector::new(self.address.as_str()).with_patience(self.patience).open()?;
        shake_hands(&mut session, &mut socket).map_err(explained)?;
        let dac = socket.peer_addr()?.ip();
        let session = Arc::new(Mutex::new(session));
        let read_half =
            TlsReader { socket: socket.try_clone()?, session: session.clone(), waiting: Vec::new(), read: 0 };
        let write_half = TlsWriter { socket, session: session.clone(), records: Vec::new() };
        Ok(OpenTls { halves: tcp::halves_of(write_half, read_half), session, dac })
    }
}

impl Connector for TlsConnector {
    fn connect(&mut self) -> io::Result<(Box<dyn Sender>, Box<dyn Receiver>)> {
        Ok(self.open()?.halves)
    }

    fn target(&self) -> String {
        format!("tls://{}", self.address)
    }

    fn patience(&self) -> Patience {
        self.patience
    }
}

/// The name that the DAC's certificate must have.
fn server_name(address: &str) -> io::Result<ServerName<'static>> {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    ServerName::try_from(host.to_owned()).map_err(|_| {
        io::Error::new(ErrorKind::InvalidInput, format!("{address} is no address of a DAC: use HOST:PORT"))
    })
}

fn shake_hands(session: &mut ClientConnection, socket: &mut TcpStream) -> io::Result<()> {
    let deadline = Instant::now() + HANDSHAKE_TIMEOUT;
    while session.is_handshaking() || session.wants_write() {
        if Instant::now() > deadline {
            return Err(io::Error::new(ErrorKind::TimedOut, "the TLS handshake took too long"));
        }
        if session.wants_write() {
            session.write_tls(socket)?;
            continue;
        }
        let length = session.read_tls(socket).map_err(|error| match error.kind() {
            // A DAC without TLS waits for the rest of what it takes for a message.
            ErrorKind::WouldBlock | ErrorKind::TimedOut => io::Error::new(
                ErrorKind::TimedOut,
                "no answer to the TLS handshake: does the DAC speak TLS there?",
            ),
            _ => error,
        })?;
        if length == 0 {
            return Err(io::Error::new(ErrorKind::UnexpectedEof, "the DAC closed during the TLS handshake"));
        }
        if let Err(error) = session.process_new_packets() {
            // The alert says why; an error of its own would not matter.
            let _ = session.write_tls(socket);
            return Err(io::Error::new(ErrorKind::InvalidData, error));
        }
    }
    Ok(())
}

/// An error of TLS in words that say what to do; other errors as they are.
fn explained(error: io::Error) -> io::Error {
    match tls_error(&error) {
        Some(cause) => io::Error::new(error.kind(), explain(cause)),
        None => error,
    }
}

/// The key of a connection's datagrams.
pub(crate) fn datagram_key(session: &Mutex<ClientConnection>, token: Uuid) -> io::Result<[u8; KEY_BYTES]> {
    let exported = lock(session).export_keying_material([0; KEY_BYTES], LABEL, Some(token.as_bytes()));
    exported.map_err(io::Error::other)
}

fn lock(session: &Mutex<ClientConnection>) -> MutexGuard<'_, ClientConnection> {
    session.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The half of the sending thread. Only it writes to the socket, so records stay in order.
struct TlsWriter {
    socket: TcpStream,
    session: Arc<Mutex<ClientConnection>>,
    /// Records on their way to the socket: at most 64 KiB and their heads.
    records: Vec<u8>,
}

impl TlsWriter {
    /// Encrypts as much as fits, and writes it. Answers of TLS itself that wait are written too.
    fn pass(
        &mut self,
        encrypt: impl FnOnce(&mut ClientConnection) -> io::Result<usize>,
    ) -> io::Result<usize> {
        self.records.clear();
        let mut session = lock(&self.session);
        let length = encrypt(&mut session)?;
        while session.wants_write() {
            session.write_tls(&mut self.records)?;
        }
        drop(session);
        self.socket.write_all(&self.records)?;
        Ok(length)
    }
}

impl Write for TlsWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pass(|session| session.writer().write(bytes))
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        self.pass(|session| session.writer().write_vectored(slices))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Closing for TlsWriter {
    fn close(&mut self) {
        // RFC 8446 6.1: the DAC learns that the end is meant. One that reads nothing more does not matter.
        let _ = self.socket.set_write_timeout(Some(GOODBYE_TIMEOUT));
        let _ = self.pass(|session| {
            session.send_close_notify();
            Ok(0)
        });
        let _ = self.socket.shutdown(Shutdown::Both);
    }
}

/// The half of the receiving thread.
struct TlsReader {
    socket: TcpStream,
    session: Arc<Mutex<ClientConnection>>,
    /// Bytes of the socket, at most [`READ_SIZE`].
    waiting: Vec<u8>,
    /// Number of them that are decrypted.
    read: usize,
}

impl Read for TlsReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(length) = self.decrypt(into).map_err(explained)? {
                return Ok(length);
            }
            self.waiting.resize(READ_SIZE, 0);
            let outcome = self.socket.read(&mut self.waiting);
            self.waiting.truncate(*outcome.as_ref().unwrap_or(&0));
            self.read = 0;
            if outcome? == 0 {
                // Without a close_notify this is a broken connection.
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
    }
}

impl TlsReader {
    /// Takes decrypted bytes; `None` if the socket must be read first.
    fn decrypt(&mut self, into: &mut [u8]) -> io::Result<Option<usize>> {
        let mut session = lock(&self.session);
        loop {
            match session.reader().read(into) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                outcome => return outcome.map(Some),
            }
            let mut rest = self.waiting.get(self.read..).unwrap_or_default();
            if rest.is_empty() {
                return Ok(None);
            }
            self.read += session.read_tls(&mut rest)?;
            session.process_new_packets().map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
        }
    }
}

#[cfg(test)]
mod tests;
