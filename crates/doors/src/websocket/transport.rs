//! The socket of a WebSocket on its shard: plain, or with TLS.
//!
//! A plain socket gets the bytes as they are, shared by all readers at the same place. With TLS, the bytes of one write are encrypted for the connection
//! in records as large as possible. At most 64 KiB of them wait here until the socket has room; the rest waits unencrypted, and shared, in the
//! connection's output and in the topic log, as without TLS.

use mio::net::TcpStream;
use rustls::ServerConnection;
use std::{
    io::{self, ErrorKind, IoSlice, Read, Write},
    mem,
    net::Shutdown,
};

/// Pieces of one write.
const MAX_PIECES: usize = 64;
/// Reads of the socket until a record is complete, in one turn. A record has up to 16 KiB, and rustls reads 4 KiB at a time.
const MAX_READS: usize = 5;

/// The socket of a WebSocket.
#[derive(Debug)]
pub enum Transport {
    /// The bytes as they are.
    Plain(TcpStream),
    /// The bytes in TLS records.
    Tls(Box<Encrypted>),
}

/// A socket after its TLS handshake.
#[derive(Debug)]
pub struct Encrypted {
    socket: TcpStream,
    session: ServerConnection,
    /// Bytes of records that were read since the caller asked for them.
    received: usize,
    /// Bytes of records that the socket has taken.
    taken: u64,
}

impl Transport {
    /// With TLS; the handshake has ended.
    pub fn tls(socket: TcpStream, session: ServerConnection) -> Self {
        Self::Tls(Box::new(Encrypted { socket, session, received: 0, taken: 0 }))
    }

    /// The socket, to wait for it.
    pub fn socket(&mut self) -> &mut TcpStream {
        match self {
            Self::Plain(socket) => socket,
            Self::Tls(tls) => &mut tls.socket,
        }
    }

    /// Whether bytes may wait here that no event of the socket reports.
    pub fn may_have_read_ahead(&self) -> bool {
        matches!(self, Self::Tls(_))
    }

    /// Whether records wait for room in the socket; [`Write::flush`] writes them.
    pub fn has_unsent(&self) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::Tls(tls) => tls.session.wants_write(),
        }
    }

    /// A number that grows whenever the socket takes records.
    pub fn taken(&self) -> u64 {
        match self {
            Self::Plain(_) => 0,
            Self::Tls(tls) => tls.taken,
        }
    }

    /// Returns how many bytes the peer has sent for a read of `length`: with TLS, all of its records since the last call.
    pub fn take_received(&mut self, length: usize) -> usize {
        match self {
            Self::Plain(_) => length,
            Self::Tls(tls) => mem::take(&mut tls.received),
        }
    }

    /// Ends writing: what was written arrives, and then the peer reads the end. May be called again when the socket has room.
    ///
    /// # Errors
    /// Errors of the socket; `WouldBlock` if it has no room for the last record.
    pub fn end(&mut self) -> io::Result<()> {
        if let Self::Tls(tls) = self {
            tls.say_goodbye()?;
        }
        self.socket().shutdown(Shutdown::Write)
    }

    /// Tells the peer that nothing follows, if it can be told without waiting. For a plain socket its end does that.
    pub fn abandon(&mut self) {
        if let Self::Tls(tls) = self {
            let _ = tls.say_goodbye();
        }
    }
}

/// Takes records. Usually there is one, and `send(2)` costs the system 4 % less than a `writev(2)` of one piece (docs/evidence/tls-measured.md).
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
    /// Writes records as far as the socket has room.
    fn send(&mut self) -> io::Result<()> {
        while self.session.wants_write() {
            match self.session.write_tls(&mut Records(&mut self.socket)) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(length) => self.taken += length as u64,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// RFC 8446 6.1: `close_notify` is the last record.
    fn say_goodbye(&mut self) -> io::Result<()> {
        self.session.send_close_notify();
        self.send()
    }

    /// Encrypts and sends until the socket is full. As with a plain socket, a short count means that it is.
    fn write(&mut self, mut slices: &mut [IoSlice<'_>]) -> io::Result<usize> {
        self.send()?;
        let mut written = 0;
        IoSlice::advance_slices(&mut slices, 0);
        while !slices.is_empty() {
            let length = self.session.writer().write_vectored(slices)?;
            written += length;
            IoSlice::advance_slices(&mut slices, length);
            match self.send() {
                Ok(()) if length == 0 => return Err(ErrorKind::WriteZero.into()),
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        Ok(written)
    }

    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        for _ in 0..MAX_READS {
            match self.session.reader().read(into) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                // RFC 8446 6.1: 0 after `close_notify`, an error if the connection ends without it.
                outcome => return outcome,
            }
            self.received += self.session.read_tls(&mut self.socket)?;
            if let Err(error) = self.session.process_new_packets() {
                // The alert that says why, if there is room for it.
                let _ = self.send();
                return Err(io::Error::new(ErrorKind::InvalidData, error));
            }
        }
        // The others first: there may be more.
        Err(ErrorKind::Interrupted.into())
    }
}

impl Read for Transport {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.read(into),
            Self::Tls(tls) => tls.read(into),
        }
    }
}

impl Write for Transport {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.write(bytes),
            Self::Tls(tls) => tls.write(&mut [IoSlice::new(bytes)]),
        }
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.write_vectored(slices),
            Self::Tls(tls) => {
                let mut own = [IoSlice::new(&[]); MAX_PIECES];
                let count = slices.len().min(MAX_PIECES);
                own.iter_mut().zip(slices).for_each(|(own, slice)| *own = *slice);
                tls.write(own.get_mut(..count).unwrap_or_default())
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

#[cfg(test)]
mod tests;
