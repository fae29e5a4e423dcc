//! A socket of subscribers and of the baseline: plain, or with TLS at either end.

use crate::entrance::loopback;
use mio::net::TcpStream;
use rustls::{ClientConfig, ClientConnection, Connection, ServerConfig, ServerConnection};
use std::{
    io::{self, BufRead, ErrorKind, IoSlice, Read, Write},
    sync::Arc,
};

/// A socket that does not block.
#[derive(Debug)]
pub enum Stream {
    /// The bytes as they are.
    Plain(TcpStream),
    /// The bytes in TLS records.
    Tls(Box<Encrypted>),
}

/// A socket with its TLS session.
#[derive(Debug)]
pub struct Encrypted {
    socket: TcpStream,
    session: Connection,
}

impl Stream {
    /// The end of a client. Its handshake begins with the first write.
    ///
    /// # Errors
    /// If the settings make no session.
    pub fn client(socket: TcpStream, tls: Option<&Arc<ClientConfig>>) -> io::Result<Self> {
        let Some(config) = tls else { return Ok(Self::Plain(socket)) };
        let session = ClientConnection::new(config.clone(), loopback()).map_err(io::Error::other)?;
        Ok(Self::Tls(Box::new(Encrypted { socket, session: session.into() })))
    }

    /// The end of a server.
    ///
    /// # Errors
    /// If the settings make no session.
    pub fn server(socket: TcpStream, tls: Option<&Arc<ServerConfig>>) -> io::Result<Self> {
        let Some(config) = tls else { return Ok(Self::Plain(socket)) };
        let session = ServerConnection::new(config.clone()).map_err(io::Error::other)?;
        Ok(Self::Tls(Box::new(Encrypted { socket, session: session.into() })))
    }

    /// The socket, to wait for it.
    pub fn socket(&mut self) -> &mut TcpStream {
        match self {
            Self::Plain(socket) => socket,
            Self::Tls(tls) => &mut tls.socket,
        }
    }

    /// Reads from the socket once, in one call to the system, and gives the content to `take` in pieces. Returns the bytes read from the socket.
    ///
    /// # Errors
    /// Returns the errors of the socket and of `take`, and an error for a record that cannot be decrypted.
    pub fn read(
        &mut self,
        buffer: &mut [u8],
        mut take: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => {
                let length = socket.read(buffer)?;
                take(buffer.get(..length).unwrap_or_default())?;
                Ok(length)
            }
            Self::Tls(tls) => {
                let length = tls.socket.read(buffer)?;
                tls.decrypt(buffer.get(..length).unwrap_or_default(), take)?;
                Ok(length)
            }
        }
    }
}

/// Takes records; usually there is one, and a write of one piece costs less than one of a list of pieces.
struct Records<'a>(&'a mut TcpStream);

impl Write for Records<'_> {
    fn write(&mut self, record: &[u8]) -> io::Result<usize> {
        self.0.write(record)
    }

    fn write_vectored(&mut self, records: &[IoSlice<'_>]) -> io::Result<usize> {
        match records {
            [one] => self.0.write(one),
            several => self.0.write_vectored(several),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Encrypted {
    fn decrypt(
        &mut self,
        mut records: &[u8],
        mut take: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        while !records.is_empty() {
            self.session.read_tls(&mut records)?;
            self.session
                .process_new_packets()
                .map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
            loop {
                let mut reader = self.session.reader();
                let length = match reader.fill_buf() {
                    Ok(content) => {
                        take(content)?;
                        content.len()
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) => return Err(error),
                };
                if length == 0 {
                    break;
                }
                reader.consume(length);
            }
        }
        // The answer of the handshake.
        self.send()
    }

    /// Writes records as far as the socket has room.
    fn send(&mut self) -> io::Result<()> {
        while self.session.wants_write() {
            match self.session.write_tls(&mut Records(&mut self.socket)) {
                Ok(_) => {}
                Err(error) if is_full(&error) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.write(bytes),
            Self::Tls(tls) => {
                tls.send()?;
                if tls.session.wants_write() && !tls.session.is_handshaking() {
                    return Err(ErrorKind::WouldBlock.into());
                }
                let length = tls.session.writer().write(bytes)?;
                tls.send()?;
                Ok(length)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(_) => Ok(()),
            Self::Tls(tls) => tls.send(),
        }
    }
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::NotConnected)
}
