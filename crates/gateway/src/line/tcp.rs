//! TCP: a device each connection.

use super::{LineAddress, READ_CHUNK_BYTES, READ_TIMEOUT, Shared, moment, resolved, spawn, warn_if_exposed};
use crate::station::{Out, is_due};
use std::{
    io::{self, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// Most connections.
const MAX_CONNECTIONS: usize = 256;
/// A connection that sends nothing for so long is closed: its device sends something each second.
const SILENT: Duration = Duration::from_secs(30);
/// Timeout of a connection without a device: it takes a place.
const UNKNOWN: Duration = Duration::from_secs(10);
/// A device that does not read for so long is given up.
const STUCK: Duration = Duration::from_secs(1);

/// Starts the thread of an address.
pub fn start(address: &str, shared: Shared) -> io::Result<(String, Vec<JoinHandle<()>>)> {
    let listener = TcpListener::bind(resolved(address)?)?;
    listener.set_nonblocking(true)?;
    let bound = listener.local_addr()?;
    let what = LineAddress::Tcp(bound.to_string());
    warn_if_exposed(bound, &what);
    shared.set_open(true);
    Ok((bound.to_string(), vec![spawn("oasis-tcp", move || listen(&listener, &what.to_string(), &shared))?]))
}

fn listen(listener: &TcpListener, what: &str, shared: &Shared) {
    let connections = Arc::new(AtomicUsize::new(0));
    let mut threads: Vec<JoinHandle<()>> = Vec::new();
    let mut full = None;
    while !shared.is_stopping() {
        let Ok((stream, peer)) = listener.accept() else {
            thread::sleep(READ_TIMEOUT);
            threads.retain(|thread| !thread.is_finished());
            continue;
        };
        if connections.load(Ordering::Relaxed) >= MAX_CONNECTIONS {
            if is_due(&mut full, Instant::now()) {
                tracing::warn!(line = what, %peer, "a connection is refused: there are {MAX_CONNECTIONS}. This is logged once an hour");
            }
            continue;
        }
        connections.fetch_add(1, Ordering::Relaxed);
        let (shared, of_thread, what) = (shared.clone(), connections.clone(), format!("{what} from {peer}"));
        let started = spawn("oasis-tcp-device", move || {
            if let Err(error) = carry(stream, &what, &shared) {
                tracing::debug!(line = what, %error, "connection of a device ended");
            }
            of_thread.fetch_sub(1, Ordering::Relaxed);
        });
        match started {
            Ok(thread) => threads.push(thread),
            Err(_) => drop(connections.fetch_sub(1, Ordering::Relaxed)),
        }
    }
    for thread in threads {
        let _ = thread.join();
    }
}

fn carry(mut stream: TcpStream, what: &str, shared: &Shared) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(READ_TIMEOUT))?;
    stream.set_write_timeout(Some(STUCK))?;
    let mut station = shared.station(what, false).of(stream.peer_addr()?.ip());
    let begun = Instant::now();
    let (mut buffer, mut out, mut heard) = ([0; READ_CHUNK_BYTES], Out::new(), begun);
    while !shared.is_stopping() && heard.elapsed() < SILENT {
        if station.is_empty() && begun.elapsed() >= UNKNOWN {
            return Ok(());
        }
        let count = match stream.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => count,
            Err(error) if is_timeout(error.kind()) => 0,
            Err(error) => return Err(error),
        };
        let now = moment();
        if let Some(bytes @ [_, ..]) = buffer.get(..count) {
            heard = now.steady;
            station.receive(bytes, None, now, &mut out);
        }
        station.tick(now, &mut out);
        for (_, bytes) in out.drain(..) {
            stream.write_all(&bytes)?;
            shared.note_sent(bytes.len());
        }
    }
    Ok(())
}

fn is_timeout(kind: io::ErrorKind) -> bool {
    matches!(kind, io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}
