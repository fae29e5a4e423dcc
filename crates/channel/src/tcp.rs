//! The default channel: one TCP connection.

use crate::{
    Connector, DacMessage, NodeMessage, Patience, Receiver, Sender,
    frame::{self, DEFAULT_MAX_BODY, Frame, Reader},
};
use std::{
    io::{self, IoSlice, Read, Write},
    net::{Shutdown, TcpStream, ToSocketAddrs},
    os::unix::net::UnixStream,
};

/// Most bytes of one read.
const READ_SIZE: usize = 16 * 1024;

/// Connects to a DAC's channel address.
#[derive(Debug, Clone)]
pub struct TcpConnector {
    address: String,
    patience: Patience,
}

impl TcpConnector {
    /// Creates a connector to `address` (`HOST:PORT`). A name is resolved again for each attempt.
    pub fn new(address: impl Into<String>) -> Self {
        Self { address: address.into(), patience: Patience::ONE_DAC }
    }

    /// Sets how long the node waits for the DAC.
    #[must_use]
    pub fn with_patience(self, patience: Patience) -> Self {
        Self { patience, ..self }
    }
}

impl Connector for TcpConnector {
    fn connect(&mut self) -> io::Result<(Box<dyn Sender>, Box<dyn Receiver>)> {
        halves(self.open()?)
    }

    fn target(&self) -> String {
        format!("tcp://{}", self.address)
    }

    fn patience(&self) -> Patience {
        self.patience
    }
}

impl TcpConnector {
    /// Opens a connection, with timeouts, and such that small writes are sent at once.
    pub(crate) fn open(&self) -> io::Result<TcpStream> {
        let mut failure = io::Error::new(io::ErrorKind::NotFound, "host name has no address");
        for address in self.address.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, self.patience.connect) {
                Ok(stream) => return configure(&stream, self.patience).map(|()| stream),
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }
}

/// Splits one end of a connection within this process into sender and receiver; another transport carries what comes out of the other end.
///
/// # Errors
/// If the system refuses a descriptor or a timeout.
pub fn halves_of_pair(
    stream: UnixStream,
    patience: Patience,
) -> io::Result<(Box<dyn Sender>, Box<dyn Receiver>)> {
    stream.set_write_timeout(Some(patience.silence))?;
    stream.set_read_timeout(Some(patience.silence))?;
    let read_half = stream.try_clone()?;
    Ok(halves_of(stream, read_half))
}

impl Closing for UnixStream {
    fn close(&mut self) {
        // An error means that the peer has closed it already, which is equivalent.
        let _ = self.shutdown(Shutdown::Both);
    }
}

/// Splits a connection into sender and receiver.
pub(crate) fn halves(stream: TcpStream) -> io::Result<(Box<dyn Sender>, Box<dyn Receiver>)> {
    let read_half = stream.try_clone()?;
    Ok(halves_of(stream, read_half))
}

fn configure(stream: &TcpStream, patience: Patience) -> io::Result<()> {
    // Batches are sent when they are due; delaying them to fill packets would only age them.
    stream.set_nodelay(true)?;
    // A DAC that takes nothing for so long is gone, and batches wait in the spool.
    stream.set_write_timeout(Some(patience.silence))?;
    stream.set_read_timeout(Some(patience.silence))
}

/// Sender and receiver over the halves of a connection, plain or encrypted.
pub(crate) fn halves_of(
    write_half: impl Closing + Send + 'static,
    read_half: impl Read + Send + 'static,
) -> (Box<dyn Sender>, Box<dyn Receiver>) {
    let receiver = StreamReceiver { stream: read_half, reader: Reader::new(DEFAULT_MAX_BODY) };
    (Box::new(StreamSender { stream: write_half, scratch: Vec::new() }), Box::new(receiver))
}

/// The writing half of a connection.
pub(crate) trait Closing: Write {
    /// Closes the connection in both directions: a pending read of the other half returns.
    fn close(&mut self);
}

impl Closing for TcpStream {
    fn close(&mut self) {
        // An error means that the peer has closed it already, which is equivalent.
        let _ = self.shutdown(Shutdown::Both);
    }
}

struct StreamSender<W> {
    stream: W,
    scratch: Vec<u8>,
}

impl<W: Closing + Send> Sender for StreamSender<W> {
    fn send(&mut self, control: &[NodeMessage], batches: &[&[u8]]) -> io::Result<()> {
        self.scratch.clear();
        for message in control {
            frame::write_control(message, &mut self.scratch);
        }
        self.write(batches, frame::batch_header)
    }

    fn send_ahead(&mut self, batches: &[&[u8]]) -> io::Result<()> {
        self.scratch.clear();
        self.write(batches, frame::ahead_header)
    }

    fn close(&mut self) {
        self.stream.close();
    }
}

impl<W: Write> StreamSender<W> {
    /// Writes what is in `scratch`, and batches after heads of this kind.
    fn write(&mut self, batches: &[&[u8]], head: fn(usize) -> [u8; frame::HEADER]) -> io::Result<()> {
        let heads: Vec<_> = batches.iter().map(|batch| head(batch.len())).collect();
        let mut slices = Vec::with_capacity(1 + 2 * batches.len());
        slices.push(IoSlice::new(&self.scratch));
        for (head, batch) in heads.iter().zip(batches) {
            slices.push(IoSlice::new(head));
            slices.push(IoSlice::new(batch));
        }
        write_all_vectored(&mut self.stream, &mut slices)
    }
}

/// `Write::write_all_vectored` is not stable yet.
fn write_all_vectored(stream: &mut impl Write, mut slices: &mut [IoSlice<'_>]) -> io::Result<()> {
    IoSlice::advance_slices(&mut slices, 0);
    while !slices.is_empty() {
        match stream.write_vectored(slices) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => IoSlice::advance_slices(&mut slices, written),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

struct StreamReceiver<R> {
    stream: R,
    reader: Reader,
}

impl<R: Read + Send> Receiver for StreamReceiver<R> {
    fn receive(&mut self) -> io::Result<DacMessage> {
        loop {
            match self.reader.next() {
                Ok(Some(Frame::Control(json))) => return serde_json::from_slice(json).map_err(invalid),
                Ok(Some(Frame::Batch(_) | Frame::Ahead(_))) => return Err(invalid("the DAC sent a batch")),
                Ok(None) => self.fill()?,
                Err(error) => return Err(invalid(error)),
            }
        }
    }
}

impl<R: Read> StreamReceiver<R> {
    fn fill(&mut self) -> io::Result<()> {
        let outcome = self.stream.read(self.reader.room(READ_SIZE));
        self.reader.filled(READ_SIZE, *outcome.as_ref().unwrap_or(&0));
        match outcome {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(_) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            Err(error) => Err(error),
        }
    }
}

fn invalid(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}
