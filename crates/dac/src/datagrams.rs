//! Batches that arrive as datagrams, each routed to its connection. A datagram is never answered.

use crate::Dac;
use oasis_channel::{
    DatagramOffer,
    protection::{KEY_BYTES, Opener},
    udp,
};
use std::{
    collections::HashMap,
    io,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Duration,
};
use tokio::{net::UdpSocket, sync::mpsc};
use uuid::Uuid;

/// Datagrams that one connection may queue; further ones are lost, as in a full socket buffer.
pub const QUEUE_CAPACITY: usize = 1_024;

/// Pause after a socket error.
const RETRY_DELAY: Duration = Duration::from_millis(50);

/// The connections that accept datagrams, by token.
#[derive(Debug, Default)]
pub struct Datagrams {
    /// UDP port, once the socket is open.
    port: OnceLock<u16>,
    /// Guards the routes; locked for one lookup.
    routes: Mutex<HashMap<Uuid, Arc<Entry>>>,
}

/// State of a route's datagrams.
#[derive(Debug)]
struct Entry {
    queue: mpsc::Sender<Vec<u8>>,
    /// Opener of an encrypted connection: no other datagrams are accepted. Locked only by the task that receives.
    opener: Option<Mutex<Opener>>,
}

/// Route of datagrams to one connection. Dropping it removes the route.
#[derive(Debug)]
pub struct Route {
    dac: Arc<Dac>,
    /// Sent with `welcome`.
    pub offer: DatagramOffer,
    batches: mpsc::Receiver<Vec<u8>>,
}

impl Route {
    /// Opens a route for a new connection, if this DAC accepts datagrams. `key` exports the key of an encrypted connection for a token; its datagrams
    /// must be made with that.
    pub fn open(dac: &Arc<Dac>, key: impl FnOnce(Uuid) -> Option<Option<[u8; KEY_BYTES]>>) -> Option<Self> {
        let offer = DatagramOffer { port: *dac.datagrams.port.get()?, token: Uuid::new_v4() };
        let opener = key(offer.token)?.map(|key| Opener::new(&key)).transpose().ok()?;
        let (queue, batches) = mpsc::channel(QUEUE_CAPACITY);
        let entry = Arc::new(Entry { queue, opener: opener.map(Mutex::new) });
        dac.datagrams.routes.lock().unwrap_or_else(PoisonError::into_inner).insert(offer.token, entry);
        Some(Self { dac: dac.clone(), offer, batches })
    }

    /// Waits for the next batch.
    pub async fn receive(route: &mut Option<Self>) -> Vec<u8> {
        match route {
            // The sender stays in the routes as long as this value lives.
            Some(route) => match route.batches.recv().await {
                Some(batch) => batch,
                None => std::future::pending().await,
            },
            None => std::future::pending().await,
        }
    }

    /// Returns a batch that is already queued.
    pub fn try_receive(&mut self) -> Option<Vec<u8>> {
        self.batches.try_recv().ok()
    }
}

impl Drop for Route {
    fn drop(&mut self) {
        let routes = &self.dac.datagrams.routes;
        routes.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.offer.token);
    }
}

/// Receives datagrams for as long as the runtime lives.
///
/// # Errors
/// If the socket has no local port.
pub async fn serve(dac: Arc<Dac>, socket: UdpSocket) -> io::Result<()> {
    // Set once: a DAC has one such socket.
    let _ = dac.datagrams.port.set(socket.local_addr()?.port());
    let mut buffer = vec![0; udp::MAX_DATAGRAM + 1];
    loop {
        match socket.recv_from(&mut buffer).await {
            Ok((length, _)) => {
                dac.admission.count_received(length);
                if let Err(code) = dac.datagrams.pass(&mut buffer[..length]) {
                    dac.admission.count_refused(code);
                }
            }
            // For example an ICMP "port unreachable" from a peer, which does not matter here. The pause keeps a
            // socket that always fails from using a whole core.
            Err(error) => {
                tracing::debug!(%error, "failed to receive a datagram");
                tokio::time::sleep(RETRY_DELAY).await;
            }
        }
    }
}

impl Datagrams {
    fn pass(&self, datagram: &mut [u8]) -> Result<(), &'static str> {
        let token = udp::token(datagram).map_err(|error| error.code())?;
        let routes = self.routes.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = routes.get(&token).cloned();
        drop(routes);
        let entry = entry.ok_or("datagram_foreign")?;
        // Checked before it is queued: a forged one takes no place of a true one.
        let batch = match &entry.opener {
            Some(opener) => opener.lock().unwrap_or_else(PoisonError::into_inner).open(datagram),
            None => udp::parse(datagram).map(|(_, batch)| batch),
        };
        let batch = batch.map_err(|error| error.code())?;
        entry.queue.try_send(batch.to_vec()).map_err(|_| "datagram_overrun")
    }
}
