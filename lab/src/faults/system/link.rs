//! A bad network: a proxy between nodes and DAC that stalls, delays, throttles and cuts connections, and drops datagrams.

use crate::faults::random::Random;
use std::{
    io::{self, ErrorKind, Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

const POLL_INTERVAL: Duration = Duration::from_millis(5);
const READ_TIMEOUT: Duration = Duration::from_millis(20);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// Bytes that are passed on at once.
const CHUNK: usize = 16 * 1024;
/// The parts of a second that a throttled link passes on at once.
const PARTS: u64 = 20;

/// A direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// From node to DAC.
    Up,
    /// From DAC to node.
    Down,
}

/// Present state of the link.
#[derive(Debug)]
struct Shape {
    is_stalled: [AtomicBool; 2],
    /// Bytes a second for each direction; 0 for any.
    rate: AtomicU64,
    delay_ms: AtomicU64,
    /// Bytes up until all connections are cut; below 0 they are.
    until_cut: AtomicI64,
    /// Connections of earlier generations are cut.
    generation: AtomicU64,
    /// Datagrams dropped out of a thousand.
    dropped_per_mille: AtomicU64,
    dropped: AtomicU64,
    is_over: AtomicBool,
}

/// The proxy, until it is dropped.
#[derive(Debug)]
pub struct Link {
    address: SocketAddr,
    shape: Arc<Shape>,
}

impl Link {
    /// A good link to a DAC on 127.0.0.1: at 127.0.0.2, with the same port, because the DAC announces its port for datagrams.
    pub fn to(channel: &str, random: Random) -> anyhow::Result<Self> {
        let dac: SocketAddr = channel.parse()?;
        let listener = TcpListener::bind(("127.0.0.2", dac.port()))?;
        listener.set_nonblocking(true)?;
        let datagrams = UdpSocket::bind(("127.0.0.2", dac.port()))?;
        datagrams.set_read_timeout(Some(READ_TIMEOUT))?;
        let address = listener.local_addr()?;
        let shape = Arc::new(Shape {
            is_stalled: [false, false].map(AtomicBool::new),
            rate: AtomicU64::new(0),
            delay_ms: AtomicU64::new(0),
            until_cut: AtomicI64::new(i64::MAX),
            generation: AtomicU64::new(0),
            dropped_per_mille: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
        });
        let (streams, packets) = (shape.clone(), shape.clone());
        thread::spawn(move || accept(&listener, dac, &streams));
        thread::spawn(move || forward_datagrams(&datagrams, dac, &packets, random));
        Ok(Self { address, shape })
    }

    /// Returns the address for nodes.
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// Passes nothing on in this direction; what was sent arrives later.
    pub fn stall(&self, way: Way) {
        self.shape.is_stalled[way as usize].store(true, Relaxed);
    }

    /// Limits both directions to this many bytes a second.
    pub fn throttle(&self, bytes_per_second: u64) {
        self.shape.rate.store(bytes_per_second, Relaxed);
    }

    /// Delays each piece, in both directions.
    pub fn delay(&self, delay: Duration) {
        self.shape.delay_ms.store(delay.as_millis() as u64, Relaxed);
    }

    /// Cuts all connections after this many more bytes from nodes, in the middle of a frame if it falls there.
    pub fn cut_after(&self, bytes: u64) {
        self.shape.until_cut.store(i64::try_from(bytes).unwrap_or(i64::MAX), Relaxed);
    }

    /// Whether it has cut them.
    pub fn has_cut(&self) -> bool {
        self.shape.until_cut.load(Relaxed) < 0
    }

    /// Drops this many of a thousand datagrams.
    pub fn drop_datagrams(&self, per_mille: u64) {
        self.shape.dropped_per_mille.store(per_mille, Relaxed);
    }

    /// Datagrams that were dropped.
    pub fn dropped(&self) -> u64 {
        self.shape.dropped.load(Relaxed)
    }

    /// A good link again.
    pub fn mend(&self) {
        self.shape.is_stalled.iter().for_each(|stalled| stalled.store(false, Relaxed));
        self.shape.rate.store(0, Relaxed);
        self.shape.delay_ms.store(0, Relaxed);
        self.shape.until_cut.store(i64::MAX, Relaxed);
        self.shape.dropped_per_mille.store(0, Relaxed);
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.shape.is_over.store(true, Relaxed);
        self.mend();
    }
}

impl Shape {
    fn is_cut(&self, generation: u64) -> bool {
        self.is_over.load(Relaxed) || self.generation.load(Relaxed) != generation
    }

    /// Takes bytes from what passes before the cut. Returns how many pass.
    fn passing(&self, count: usize) -> usize {
        let before = self.until_cut.load(Relaxed);
        if before == i64::MAX || before < 0 {
            return count;
        }
        let passing = usize::try_from(before).unwrap_or(usize::MAX).min(count);
        let left = before - passing as i64;
        // The last byte before the cut has passed.
        self.until_cut.store(if left == 0 { -1 } else { left }, Relaxed);
        if left == 0 {
            self.generation.fetch_add(1, Relaxed);
        }
        passing
    }
}

fn accept(listener: &TcpListener, dac: SocketAddr, shape: &Arc<Shape>) {
    while !shape.is_over.load(Relaxed) {
        // A partitioned link accepts nothing either.
        let is_parted = shape.is_stalled.iter().all(|stalled| stalled.load(Relaxed));
        match listener.accept() {
            Ok((node, _)) if !is_parted => {
                let shape = shape.clone();
                // Without a DAC the node's connection is closed.
                thread::spawn(move || connect(node, dac, &shape));
            }
            Ok(_) => {}
            Err(_) => thread::sleep(POLL_INTERVAL),
        }
    }
}

fn connect(node: TcpStream, dac: SocketAddr, shape: &Arc<Shape>) -> io::Result<()> {
    let generation = shape.generation.load(Relaxed);
    let dac = TcpStream::connect_timeout(&dac, CONNECT_TIMEOUT)?;
    for stream in [&node, &dac] {
        stream.set_nonblocking(false)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(READ_TIMEOUT))?;
        stream.set_write_timeout(Some(READ_TIMEOUT))?;
    }
    let (from_dac, to_node, down) = (dac.try_clone()?, node.try_clone()?, shape.clone());
    thread::spawn(move || pass_on(from_dac, to_node, Way::Down, &down, generation));
    pass_on(node, dac, Way::Up, shape, generation);
    Ok(())
}

/// Passes bytes on until one end closes or the link is cut; then closes both.
fn pass_on(mut from: TcpStream, mut to: TcpStream, way: Way, shape: &Shape, generation: u64) {
    let mut buffer = vec![0; CHUNK];
    while !shape.is_cut(generation) {
        if shape.is_stalled[way as usize].load(Relaxed) {
            thread::sleep(POLL_INTERVAL);
            continue;
        }
        let rate = shape.rate.load(Relaxed);
        let most = if rate == 0 { CHUNK } else { ((rate / PARTS) as usize).clamp(1, CHUNK) };
        let count = match from.read(&mut buffer[..most]) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if is_timeout(&error) => continue,
            Err(_) => break,
        };
        let delay = Duration::from_millis(shape.delay_ms.load(Relaxed));
        let limited = Duration::from_secs_f64(if rate == 0 { 0.0 } else { count as f64 / rate as f64 });
        thread::sleep(delay + limited);
        let passing = if way == Way::Up { shape.passing(count) } else { count };
        if !write_all(&mut to, &buffer[..passing], way, shape, generation) || passing < count {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}

/// Writes everything, unless the link is cut meanwhile; waits while it is stalled.
fn write_all(to: &mut TcpStream, bytes: &[u8], way: Way, shape: &Shape, generation: u64) -> bool {
    let mut left = bytes;
    while !left.is_empty() {
        // Bytes before a cut still pass.
        if shape.is_over.load(Relaxed) || (shape.is_cut(generation) && way == Way::Down) {
            return false;
        }
        if shape.is_stalled[way as usize].load(Relaxed) {
            thread::sleep(POLL_INTERVAL);
            continue;
        }
        match to.write(left) {
            Ok(count) => left = &left[count..],
            Err(error) if is_timeout(&error) => {}
            Err(_) => return false,
        }
    }
    true
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

fn forward_datagrams(from: &UdpSocket, dac: SocketAddr, shape: &Shape, mut random: Random) {
    let Ok(to) = UdpSocket::bind(("127.0.0.1", 0)) else { return };
    let mut buffer = vec![0; 64 * 1024];
    while !shape.is_over.load(Relaxed) {
        let Ok((count, _)) = from.recv_from(&mut buffer) else { continue };
        let is_stalled = shape.is_stalled[Way::Up as usize].load(Relaxed);
        if is_stalled || random.within(0..1_000) < shape.dropped_per_mille.load(Relaxed) {
            shape.dropped.fetch_add(1, Relaxed);
        } else {
            // A DAC that does not run loses it too.
            let _ = to.send_to(&buffer[..count], dac);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn echo() -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                thread::spawn(move || io::copy(&mut stream.try_clone().unwrap(), &mut &stream));
            }
        });
        address
    }

    #[test]
    fn bytes_pass_until_the_cut() {
        let link = Link::to(&echo().to_string(), Random::new(1, "link")).unwrap();
        let mut stream = TcpStream::connect(link.address()).unwrap();
        stream.write_all(b"hello").unwrap();
        let mut answer = [0; 5];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!((&answer, link.has_cut()), (b"hello", false));
        link.cut_after(3);
        let _ = stream.write_all(b"hello");
        let _ = stream.read_to_end(&mut Vec::new());
        assert!(link.has_cut());
    }

    #[test]
    fn a_stalled_link_delivers_once_it_is_mended() {
        let link = Link::to(&echo().to_string(), Random::new(1, "link")).unwrap();
        let mut stream = TcpStream::connect(link.address()).unwrap();
        stream.write_all(b"a").unwrap();
        stream.read_exact(&mut [0]).unwrap();
        link.stall(Way::Down);
        stream.write_all(b"b").unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        assert!(is_timeout(&stream.read(&mut [0]).unwrap_err()));
        link.mend();
        stream.set_read_timeout(None).unwrap();
        stream.read_exact(&mut [0]).unwrap();
    }
}
