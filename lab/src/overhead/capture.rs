//! Captures the packets of one connection on the loopback interface, as `tcpdump` does.

use super::packet::Segment;
use anyhow::Context;
use socket2::{Domain, Protocol, Socket, Type};
use std::{
    io::{ErrorKind, Read, Write},
    net::{TcpListener, TcpStream},
    thread,
    time::{Duration, Instant},
};

/// Ethertype of IPv4, in the byte order of the network. A packet socket for one type sees each packet of the loopback interface once.
const IPV4: i32 = 0x0800_u16.to_be() as i32;
/// Largest packet of the loopback interface, and more.
pub const PACKET: usize = 128 * 1024;
/// Timeout of a capture.
const CAPTURE_TIMEOUT: Duration = Duration::from_secs(5);
/// Room for packets that arrive faster than they are read.
const BUFFER: usize = 16 * 1024 * 1024;

/// A socket that reads every packet of IPv4.
///
/// # Errors
/// Without the permission to capture (CAP_NET_RAW).
pub fn packets() -> anyhow::Result<Socket> {
    let packets = Socket::new(Domain::PACKET, Type::RAW, Some(Protocol::from(IPV4)))
        .context("packets cannot be captured without CAP_NET_RAW (run as root)")?;
    packets.set_recv_buffer_size(BUFFER)?;
    Ok(packets)
}

/// Cost of the segments of one direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// Segments with payload.
    pub segments: usize,
    /// Bytes of their IP and TCP headers.
    pub headers: usize,
    /// Bytes of the stream.
    pub payload: usize,
}

/// A connection over loopback whose packets are captured.
pub struct Wire {
    packets: Socket,
    sender: TcpStream,
    receiver: TcpStream,
}

impl Wire {
    /// Connects.
    ///
    /// # Errors
    /// Without the permission to capture (CAP_NET_RAW).
    pub fn open() -> anyhow::Result<Self> {
        let packets = packets()?;
        packets.set_read_timeout(Some(CAPTURE_TIMEOUT))?;
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let sender = TcpStream::connect(listener.local_addr()?)?;
        sender.set_nodelay(true)?;
        let (receiver, _) = listener.accept()?;
        Ok(Self { packets, sender, receiver })
    }

    /// Sends these writes one after another, each as soon as the one before has arrived, and returns what they cost.
    pub fn send(&mut self, writes: &[Vec<u8>]) -> anyhow::Result<Cost> {
        let mut cost = Cost::default();
        for bytes in writes {
            let (mut receiver, length) = (self.receiver.try_clone()?, bytes.len());
            let arrived = thread::spawn(move || receiver.read_exact(&mut vec![0; length]));
            self.sender.write_all(bytes)?;
            arrived.join().map_err(|_| anyhow::anyhow!("the receiver panicked"))??;
            self.count(length, &mut cost)?;
        }
        Ok(cost)
    }

    /// Sends bytes that fit into one packet, and returns its Ethernet frame.
    pub fn frame_of(&mut self, bytes: &[u8]) -> anyhow::Result<Vec<u8>> {
        let mut frame = Vec::new();
        self.sender.write_all(bytes)?;
        self.receiver.read_exact(&mut vec![0; bytes.len()])?;
        self.each(bytes.len(), |captured, _| frame = captured.to_vec())?;
        Ok(frame)
    }

    /// Reads packets until those of a write are all seen.
    fn count(&mut self, length: usize, cost: &mut Cost) -> anyhow::Result<()> {
        self.each(length, |_, segment| {
            cost.segments += 1;
            cost.headers += segment.headers;
            cost.payload += segment.payload;
        })
    }

    /// Gives each packet of the next `length` bytes of the stream to `see`.
    fn each(&mut self, length: usize, mut see: impl FnMut(&[u8], Segment)) -> anyhow::Result<()> {
        let ports = (self.sender.local_addr()?.port(), self.receiver.local_addr()?.port());
        let (mut buffer, begun, mut missing) = (vec![0; PACKET], Instant::now(), length);
        while missing > 0 {
            anyhow::ensure!(begun.elapsed() < CAPTURE_TIMEOUT, "packets are missing from the capture");
            let length = match self.packets.read(&mut buffer) {
                Ok(length) => length,
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            let Some(captured) = buffer.get(..length) else { continue };
            let segment = Segment::parse(captured);
            if let Some(segment) = segment.filter(|one| (one.from, one.to) == ports && one.payload > 0) {
                missing = missing.saturating_sub(segment.payload);
                see(captured, segment);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_write_is_a_segment_with_its_headers() {
        let Ok(mut wire) = Wire::open() else {
            let _ = writeln!(std::io::stderr(), "SKIPPED: packets cannot be captured here");
            return;
        };
        let cost = wire.send(&vec![vec![7; 13]; 8]).unwrap();
        assert_eq!((cost.segments, cost.payload), (8, 104));
        assert!((8 * 40..=8 * 60).contains(&cost.headers), "{cost:?}");
    }
}
