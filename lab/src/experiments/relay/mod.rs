//! A relay that delays what passes in both directions, as a long way does, and remembers by how much it did.
//!
//! A way keeps its delay for [`DELAY_INTERVAL`]: what is sent in one go, as the head and the body of a response, arrives in one go. Pieces keep their order: one
//! whose delay is over waits for the piece before it. What a connection reads waits in memory, at most [`PIECES`] pieces in each
//! direction; then its sender is not read any more.

mod link;

pub use link::Link;

use fastrand::Rng;
use std::{
    io::{self, Read, Write},
    net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

/// Upper bound of the bytes of a chunk.
const READ_CHUNK_BYTES: usize = 16 * 1024;
/// Time during which the delay of a direction stays the same.
const DELAY_INTERVAL: Duration = Duration::from_millis(5);
/// Pieces under way in one direction of a connection.
const PIECES: usize = 1_024;

/// The relay; it accepts no more connections once it is dropped.
#[derive(Debug)]
pub struct Relay {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
    delays: Arc<Mutex<Delays>>,
}

/// Delays as they were, milliseconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Delays {
    /// To the server.
    pub up: Vec<f64>,
    /// From the server.
    pub down: Vec<f64>,
    /// Delays of each exchange of a connection: of its request's last piece, and of its answer's. The last exchange of a connection is not among them.
    pub exchanges: Vec<(f64, f64)>,
}

/// The exchange of a connection that is under way.
#[derive(Debug, Default)]
struct Exchange {
    up: Option<f64>,
    down: Option<f64>,
}

impl Exchange {
    /// Notes a piece. Returns the exchange before, if this is the first piece of the next request.
    fn note(&mut self, direction: Direction, delay: f64) -> Option<(f64, f64)> {
        let before = match direction {
            Direction::Up => self.up.zip(self.down.take()),
            Direction::Down => None,
        };
        match direction {
            Direction::Up => self.up = Some(delay),
            Direction::Down => self.down = Some(delay),
        }
        before
    }
}

#[derive(Debug, Clone, Copy)]
enum Direction {
    Up,
    Down,
}

/// Chunk that was read, and the time when it may be written.
struct DelayedChunk {
    read: Instant,
    due: Instant,
    bytes: Vec<u8>,
}

impl Relay {
    /// Starts a relay to this server.
    pub fn start(server: SocketAddr, link: Link, seed: u64) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let relay = Self { address: listener.local_addr()?, is_over: Arc::default(), delays: Arc::default() };
        let (is_over, delays) = (relay.is_over.clone(), relay.delays.clone());
        thread::Builder::new().name("relay".into()).spawn(move || {
            let mut random = Rng::with_seed(seed);
            for client in listener.incoming().flatten() {
                if is_over.load(Ordering::Relaxed) {
                    return;
                }
                // A connection that cannot be relayed is closed: the client sees it.
                let _ = relay_connection(client, server, link, &mut random, &delays);
            }
        })?;
        Ok(relay)
    }

    /// Returns the address for clients.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The delays since this was asked last.
    pub fn take_delays(&self) -> Delays {
        std::mem::take(&mut *self.delays.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // The thread looks when a connection comes.
        let _ = TcpStream::connect(self.address);
    }
}

fn relay_connection(
    client: TcpStream,
    server: SocketAddr,
    link: Link,
    random: &mut Rng,
    delays: &Arc<Mutex<Delays>>,
) -> io::Result<()> {
    let server = TcpStream::connect(server)?;
    for stream in [&client, &server] {
        stream.set_nodelay(true)?;
    }
    let exchange = Arc::new(Mutex::new(Exchange::default()));
    let ways = [(Direction::Up, client.try_clone()?, server.try_clone()?), (Direction::Down, server, client)];
    for (direction, from, to) in ways {
        let (sender, receiver) = sync_channel(PIECES);
        let random = Rng::with_seed(random.u64(..));
        let (exchange, delays) = (exchange.clone(), delays.clone());
        thread::Builder::new().name("relay-read".into()).spawn(move || read(from, link, random, &sender))?;
        thread::Builder::new()
            .name("relay-write".into())
            .spawn(move || write(to, direction, receiver, &exchange, &delays))?;
    }
    Ok(())
}

/// Reads until an end closes the connection.
fn read(mut from: TcpStream, link: Link, mut random: Rng, to: &SyncSender<DelayedChunk>) {
    let (mut buffer, mut last) = ([0; READ_CHUNK_BYTES], Instant::now());
    let (mut delay, mut since) = (link.delay(&mut random), last);
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        let read = Instant::now();
        if read > since + DELAY_INTERVAL {
            (delay, since) = (link.delay(&mut random), read);
        }
        last = last.max(read + delay);
        let piece = DelayedChunk { read, due: last, bytes: buffer[..count].to_vec() };
        if to.send(piece).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Read);
}

/// Writes each piece when it is due.
fn write(
    mut to: TcpStream,
    direction: Direction,
    pieces: Receiver<DelayedChunk>,
    exchange: &Mutex<Exchange>,
    delays: &Mutex<Delays>,
) {
    for piece in pieces {
        thread::sleep(piece.due.saturating_duration_since(Instant::now()));
        if to.write_all(&piece.bytes).is_err() {
            break;
        }
        let realized = piece.read.elapsed().as_secs_f64() * 1e3;
        let before = exchange.lock().unwrap_or_else(PoisonError::into_inner).note(direction, realized);
        let mut delays = delays.lock().unwrap_or_else(PoisonError::into_inner);
        delays.exchanges.extend(before);
        match direction {
            Direction::Up => delays.up.push(realized),
            Direction::Down => delays.down.push(realized),
        }
    }
    // Both ends learn of the end.
    let _ = to.shutdown(Shutdown::Both);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eventually(mut is_true: impl FnMut() -> bool) -> bool {
        let until = Instant::now() + Duration::from_secs(10);
        while !is_true() {
            if Instant::now() > until {
                return false;
            }
            thread::sleep(Duration::from_millis(20));
        }
        true
    }

    #[test]
    fn an_exchange_has_the_delays_of_the_last_pieces_of_request_and_answer() {
        let mut exchange = Exchange::default();
        use Direction::{Down, Up};
        let pieces = [(Up, 1.0), (Up, 2.0), (Down, 3.0), (Down, 4.0), (Up, 5.0), (Down, 6.0), (Up, 7.0)];
        let exchanges: Vec<_> =
            pieces.into_iter().filter_map(|(direction, delay)| exchange.note(direction, delay)).collect();
        assert_eq!(exchanges, [(2.0, 4.0), (5.0, 6.0)]);
    }

    #[test]
    fn pieces_are_late_and_in_order() {
        let server = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let link = Link { mean: 20.0, deviation: 15.0 };
        let relay = Relay::start(server.local_addr().expect("an address"), link, 1).expect("a relay");
        let mut client = TcpStream::connect(relay.address()).expect("the relay");
        let (mut accepted, _) = server.accept().expect("the relay's connection");
        let began = Instant::now();
        for number in 0..40_u8 {
            client.write_all(&[number]).expect("the relay reads");
            thread::sleep(Duration::from_millis(1));
        }
        let mut bytes = [0; 40];
        accepted.read_exact(&mut bytes).expect("all pieces");
        assert_eq!(bytes.to_vec(), (0..40).collect::<Vec<u8>>());
        assert!(began.elapsed() >= Duration::from_millis(40));
        accepted.write_all(b"answer").expect("the relay reads");
        client.read_exact(&mut bytes[..6]).expect("the answer");
        drop(client);
        assert_eq!(accepted.read(&mut bytes).expect("an end"), 0, "the end passes too");
        assert!(eventually(|| {
            let delays = relay.delays.lock().unwrap_or_else(PoisonError::into_inner);
            !delays.up.is_empty() && delays.down.len() == 1
        }));
        let delays = relay.take_delays();
        assert!(delays.up.iter().all(|delay| *delay > 0.0), "{delays:?}");
        assert_eq!(relay.take_delays(), Delays::default());
    }
}
