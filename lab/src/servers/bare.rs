//! As little as a server can do: an event loop that writes the same bytes to every socket, a burst in one call; with TLS, in one record.
//!
//! Its cost is the baseline; every other server adds to it.

use super::Packets;
use crate::{
    order::{Order, ready, run_orders},
    stream::Stream,
};
use anyhow::bail;
use mio::{Events, Interest, Poll, Token, Waker, net::TcpListener};
use rustls::ServerConfig;
use slab::Slab;
use std::{
    collections::VecDeque,
    io::{self, ErrorKind, Write},
    rc::Rc,
    sync::{
        Arc,
        mpsc::{self, Receiver},
    },
    thread,
};
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

const LISTENER: Token = Token(usize::MAX);
const ORDERS: Token = Token(usize::MAX - 1);

/// Longest request of a client.
const MAX_REQUEST: usize = 8 * 1024;

struct Peer {
    stream: Stream,
    /// Bytes of its handshake so far; none when that is done.
    request: Option<Vec<u8>>,
    /// Unsent pieces, and the number of sent bytes of the first.
    waiting: VecDeque<Rc<[u8]>>,
    written: usize,
}

struct Loop {
    poll: Poll,
    listener: TcpListener,
    tls: Option<Arc<ServerConfig>>,
    peers: Slab<Peer>,
    packets: Packets,
}

pub fn serve(tls: Option<Arc<ServerConfig>>) -> anyhow::Result<()> {
    let poll = Poll::new()?;
    let mut listener = TcpListener::bind(([127, 0, 0, 1], 0).into())?;
    poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
    let waker = Arc::new(Waker::new(poll.registry(), ORDERS)?);
    // Kept alive: a dropped waker does not wake.
    let _kept = waker.clone();
    ready(&[listener.local_addr()?.to_string()])?;
    let (orders, inbox) = mpsc::channel();
    thread::spawn(move || {
        run_orders(|order| {
            let Order::Round { burst } = order else { bail!("this server publishes rounds only") };
            orders.send(burst)?;
            Ok(waker.wake()?)
        })
        // The end of the orders is the end of the process.
        .and_then(|()| {
            drop(orders);
            Ok(waker.wake()?)
        })
    });
    Loop { poll, listener, tls, peers: Slab::new(), packets: Packets::default() }.run(&inbox)
}

impl Loop {
    fn run(mut self, orders: &Receiver<usize>) -> anyhow::Result<()> {
        let mut events = Events::with_capacity(1024);
        loop {
            match self.poll.poll(&mut events, None) {
                Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error.into()),
                _ => {}
            }
            for event in &events {
                match event.token() {
                    LISTENER => self.accept()?,
                    ORDERS => loop {
                        match orders.try_recv() {
                            Ok(burst) => self.publish(burst),
                            Err(mpsc::TryRecvError::Empty) => break,
                            Err(mpsc::TryRecvError::Disconnected) => return Ok(()),
                        }
                    },
                    Token(key) => self.serve(key),
                }
            }
        }
    }

    fn accept(&mut self) -> io::Result<()> {
        loop {
            match self.listener.accept() {
                Ok((mut stream, _)) => {
                    stream.set_nodelay(true)?;
                    let entry = self.peers.vacant_entry();
                    let interest = Interest::READABLE | Interest::WRITABLE;
                    self.poll.registry().register(&mut stream, Token(entry.key()), interest)?;
                    let stream = Stream::server(stream, self.tls.as_ref())?;
                    let request = Some(Vec::new());
                    entry.insert(Peer { stream, request, waiting: VecDeque::new(), written: 0 });
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    fn serve(&mut self, key: usize) {
        if let Some(peer) = self.peers.get_mut(key)
            && peer.read().and_then(|()| peer.write()).is_err()
        {
            self.peers.remove(key);
        }
    }

    fn publish(&mut self, burst: usize) {
        let mut frames = Vec::new();
        for packet in self.packets.burst(burst) {
            // Binary, whole, 136 bytes: RFC 6455 section 5.2.
            frames.extend_from_slice(&[0x82, 126, 0, packet.len() as u8]);
            frames.extend_from_slice(&packet);
        }
        let frames: Rc<[u8]> = frames.into();
        self.peers.retain(|_, peer| {
            if peer.request.is_some() {
                return true;
            }
            peer.waiting.push_back(frames.clone());
            peer.waiting.len() > 1 || peer.write().is_ok()
        });
    }
}

impl Peer {
    fn read(&mut self) -> io::Result<()> {
        let mut buffer = [0; 4096];
        loop {
            let request = &mut self.request;
            let read = self.stream.read(&mut buffer, |bytes| {
                request.iter_mut().for_each(|request| request.extend_from_slice(bytes));
                Ok(())
            });
            match read {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(_) => self.answer()?,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    fn answer(&mut self) -> io::Result<()> {
        let Some(request) = &self.request else { return Ok(()) };
        if !request.ends_with(b"\r\n\r\n") {
            return if request.len() > MAX_REQUEST { Err(ErrorKind::InvalidData.into()) } else { Ok(()) };
        }
        let text = String::from_utf8_lossy(request);
        let key = text.lines().find_map(|line| line.strip_prefix("Sec-WebSocket-Key: "));
        let accept = derive_accept_key(key.unwrap_or_default().as_bytes());
        let answer = format!(
            "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: {accept}\r\n\r\n"
        );
        self.request = None;
        self.waiting.push_back(answer.into_bytes().into());
        self.write()
    }

    fn write(&mut self) -> io::Result<()> {
        while let Some(piece) = self.waiting.front() {
            match self.stream.write(piece.get(self.written..).unwrap_or_default()) {
                Ok(length) => self.written += length,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
            if self.written >= piece.len() {
                self.written = 0;
                self.waiting.pop_front();
            }
        }
        self.stream.flush()
    }
}
