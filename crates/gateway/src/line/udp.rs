//! Datagrams: any number of devices, told apart by their addresses and sessions.

use super::{LineAddress, READ_CHUNK_BYTES, READ_TIMEOUT, Shared, moment, resolved, spawn, warn_if_exposed};
use crate::station::Out;
use std::{
    io,
    net::{SocketAddr, UdpSocket},
    thread::JoinHandle,
};

/// Starts the thread of an address.
pub fn start(address: &str, shared: Shared) -> io::Result<(String, Vec<JoinHandle<()>>)> {
    let socket = UdpSocket::bind(resolved(address)?)?;
    socket.set_read_timeout(Some(READ_TIMEOUT))?;
    let bound = socket.local_addr()?;
    let what = LineAddress::Udp(bound.to_string());
    warn_if_exposed(bound, &what);
    shared.set_open(true);
    let name = what.to_string();
    Ok((bound.to_string(), vec![spawn("oasis-udp", move || carry(&socket, &name, &shared))?]))
}

fn carry(socket: &UdpSocket, what: &str, shared: &Shared) {
    let mut station = shared.station(what, true);
    let (mut buffer, mut out) = ([0; READ_CHUNK_BYTES], Out::new());
    while !shared.is_stopping() {
        let received = socket.recv_from(&mut buffer);
        let now = moment();
        if let Ok((count, peer)) = received
            && let Some(bytes) = buffer.get(..count)
        {
            station.receive(bytes, Some(peer), now, &mut out);
        }
        station.tick(now, &mut out);
        for (peer, bytes) in out.drain(..) {
            send(socket, peer, &bytes, shared);
        }
    }
}

fn send(socket: &UdpSocket, peer: Option<SocketAddr>, bytes: &[u8], shared: &Shared) {
    // One that cannot be sent is lost, as any datagram may be: what it says is asked for or said again.
    if let Some(peer) = peer
        && socket.send_to(bytes, peer).is_ok()
    {
        shared.note_sent(bytes.len());
    }
}
