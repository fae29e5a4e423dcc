//! One client: a connection, a request, and its response.

use super::response::{Malformed, ResponseReader};
use mio::net::TcpStream;
use socket2::{Domain, Protocol, Socket, Type};
use std::{
    io::{self, ErrorKind, Read, Write},
    net::{Ipv4Addr, SocketAddr},
};

/// `connect(2)` on a socket that does not block.
const EINPROGRESS: i32 = 115;

/// A client with a connection.
#[derive(Debug)]
pub struct Client {
    stream: TcpStream,
    /// The number of sent bytes of the request.
    sent: usize,
    reader: ResponseReader,
}

/// Progress of a read.
#[derive(Debug, PartialEq, Eq)]
pub enum Progress {
    /// There is more to come.
    More,
    /// The response is complete.
    Done,
}

impl Client {
    /// Begins to connect, from this address if the server is on this machine.
    pub fn connect(server: SocketAddr, source: Ipv4Addr) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(server), Type::STREAM, Some(Protocol::TCP))?;
        socket.set_nonblocking(true)?;
        socket.set_tcp_nodelay(true)?;
        if server.ip().is_loopback() {
            socket.bind(&SocketAddr::from((source, 0)).into())?;
        }
        match socket.connect(&server.into()) {
            Err(error) if error.raw_os_error() != Some(EINPROGRESS) => return Err(error),
            _ => {}
        }
        Ok(Self { stream: TcpStream::from_std(socket.into()), sent: 0, reader: ResponseReader::default() })
    }

    /// The socket.
    pub fn stream(&mut self) -> &mut TcpStream {
        &mut self.stream
    }

    /// Sends what is left of the request.
    pub fn write(&mut self, request: &[u8]) -> io::Result<()> {
        while let Some(rest) = request.get(self.sent..).filter(|rest| !rest.is_empty()) {
            match self.stream.write(rest) {
                Ok(length) => self.sent += length,
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::NotConnected) => {
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Begins another request on the connection.
    pub fn again(&mut self, request: &[u8]) -> io::Result<()> {
        self.sent = 0;
        self.reader = ResponseReader::default();
        self.write(request)
    }

    /// Reads what has come; each line of the body goes to the function.
    pub fn read(&mut self, buffer: &mut [u8], each: &mut impl FnMut(&[u8])) -> io::Result<Progress> {
        loop {
            match self.stream.read(buffer) {
                Ok(0) if self.reader.may_close() => return Ok(Progress::Done),
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(length) => {
                    let read = self.reader.read(buffer.get(..length).unwrap_or_default(), each);
                    read.map_err(|Malformed(what)| io::Error::new(ErrorKind::InvalidData, what))?;
                    if self.reader.is_done() {
                        return Ok(Progress::Done);
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(Progress::More),
                Err(error) => return Err(error),
            }
        }
    }
}
