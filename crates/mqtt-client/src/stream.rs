//! The connection to the broker, with or without TLS.

use crate::address::Address;
use oasis_tls::tls_error;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};
use rustls::{ClientConfig, ClientConnection, StreamOwned, pki_types::ServerName};
use std::{
    io::{self, ErrorKind, Read, Write},
    net::{SocketAddr, TcpStream, ToSocketAddrs},
    os::fd::AsFd,
    sync::Arc,
    time::Duration,
};

/// Longest time until the connection is open, for each address of the broker.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// Longest wait for the handshake of TLS, and for a write.
const IO_TIMEOUT: Duration = Duration::from_secs(10);
/// Longest wait of a read: how soon a request to stop is seen.
const READ_TIMEOUT: Duration = Duration::from_millis(200);
/// Bytes of a read.
pub const READ_CHUNK_BYTES: usize = 64 * 1024;

/// An open connection.
pub struct BrokerStream {
    socket: TcpStream,
    tls: Option<Box<StreamOwned<ClientConnection, TcpStream>>>,
}

impl BrokerStream {
    /// Connects to a broker.
    ///
    /// # Errors
    /// If it cannot be reached, or proves to be another one.
    pub fn connect(address: &Address, tls: Option<Arc<ClientConfig>>) -> io::Result<Self> {
        let socket = open(address)?;
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(IO_TIMEOUT))?;
        socket.set_write_timeout(Some(IO_TIMEOUT))?;
        let tls = tls.map(|config| secure(address, config, socket.try_clone()?)).transpose()?;
        socket.set_read_timeout(Some(READ_TIMEOUT))?;
        Ok(Self { socket, tls: tls.map(Box::new) })
    }

    /// Returns the address of the broker.
    ///
    /// # Errors
    /// If the connection has ended.
    pub fn peer(&self) -> io::Result<SocketAddr> {
        self.socket.peer_addr()
    }

    /// Waits until there are bytes to read, `other` is readable, or the time is over. Returns whether a read has bytes, or an end, at once.
    ///
    /// # Errors
    /// If the system cannot wait.
    pub fn wait(&self, other: &impl AsFd, timeout: Duration) -> io::Result<bool> {
        // Bytes that TLS has decrypted are not in the socket any more.
        if self.tls.as_ref().is_some_and(|tls| !tls.conn.wants_read()) {
            return Ok(true);
        }
        let mut waiting = [PollFd::new(&self.socket, PollFlags::IN), PollFd::new(other, PollFlags::IN)];
        let timeout = Timespec::try_from(timeout).map_err(io::Error::other)?;
        match poll(&mut waiting, Some(&timeout)) {
            Ok(_) => Ok(!waiting[0].revents().is_empty()),
            Err(Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads what there is; 0 bytes after a timeout.
    ///
    /// # Errors
    /// If the connection has ended.
    pub fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let read = match &mut self.tls {
            Some(tls) => tls.read(to),
            None => self.socket.read(to),
        };
        match read {
            Ok(0) => Err(io::Error::new(ErrorKind::UnexpectedEof, "the broker closed the connection")),
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                ) =>
            {
                Ok(0)
            }
            other => other,
        }
    }

    /// Writes all.
    ///
    /// # Errors
    /// If the connection has ended, or the broker takes nothing.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.tls {
            Some(tls) => tls.write_all(bytes).and_then(|()| tls.flush()),
            None => self.socket.write_all(bytes),
        }
    }
}

fn open(address: &Address) -> io::Result<TcpStream> {
    let mut failure = io::Error::new(ErrorKind::NotFound, "the host has no address");
    for one in (&*address.host, address.port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&one, CONNECT_TIMEOUT) {
            Ok(socket) => return Ok(socket),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

fn secure(
    address: &Address,
    config: Arc<ClientConfig>,
    mut socket: TcpStream,
) -> io::Result<StreamOwned<ClientConnection, TcpStream>> {
    let name = ServerName::try_from(address.host.clone())
        .map_err(|_| io::Error::new(ErrorKind::InvalidInput, "the host is no name of a certificate"))?;
    let mut session = ClientConnection::new(config, name).map_err(io::Error::other)?;
    while session.is_handshaking() {
        session.complete_io(&mut socket).map_err(explained)?;
    }
    Ok(StreamOwned::new(session, socket))
}

/// An error of TLS with a remedy; other errors as they are.
fn explained(error: io::Error) -> io::Error {
    match tls_error(&error) {
        Some(cause) => {
            let text =
                format!("{cause}: does ca_file have the CA of the broker, and its certificate this host?");
            io::Error::new(error.kind(), text)
        }
        None => error,
    }
}
