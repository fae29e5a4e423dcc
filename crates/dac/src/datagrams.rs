//! Batches that come as datagrams: to whose connection each belongs. Nothing is ever answered to a datagram.

use crate::Dac;
use oasis_channel::{DatagramOffer, udp};
use std::{
    collections::HashMap,
    io,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Duration,
};
use tokio::{net::UdpSocket, sync::mpsc};
use uuid::Uuid;

/// Datagrams that wait for one connection; one more is lost, as in a full socket.
pub const QUEUE: usize = 1_024;

/// After an error of the socket.
const PAUSE: Duration = Duration::from_millis(50);

/// The connections that take datagrams, by token.
#[derive(Debug, Default)]
pub struct Datagrams {
    /// UDP port, once there is one.
    port: OnceLock<u16>,
    /// Guards the routes; held for one look.
    routes: Mutex<HashMap<Uuid, mpsc::Sender<Vec<u8>>>>,
}

/// A connection's way in. It ends with this.
#[derive(Debug)]
pub struct Route {
    dac: Arc<Dac>,
    /// For `welcome`.
    pub offer: DatagramOffer,
    batches: mpsc::Receiver<Vec<u8>>,
}

impl Route {
    /// A way for a new connection, if this DAC takes datagrams.
    pub fn open(dac: &Arc<Dac>) -> Option<Self> {
        let offer = DatagramOffer { port: *dac.datagrams.port.get()?, token: Uuid::new_v4() };
        let (sender, batches) = mpsc::channel(QUEUE);
        dac.datagrams.routes.lock().unwrap_or_else(PoisonError::into_inner).insert(offer.token, sender);
        Some(Self { dac: dac.clone(), offer, batches })
    }

    /// The next batch.
    pub async fn receive(route: &mut Option<Self>) -> Vec<u8> {
        match route {
            // The sender lives in the routes as long as this does.
            Some(route) => match route.batches.recv().await {
                Some(batch) => batch,
                None => std::future::pending().await,
            },
            None => std::future::pending().await,
        }
    }

    /// A batch that is here already.
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

/// Takes datagrams for as long as the runtime lives.
///
/// # Errors
/// If the socket has no port.
pub async fn serve(dac: Arc<Dac>, socket: UdpSocket) -> io::Result<()> {
    // Set once: a DAC has one such socket.
    let _ = dac.datagrams.port.set(socket.local_addr()?.port());
    let mut buffer = vec![0; udp::MAX_DATAGRAM + 1];
    loop {
        match socket.recv_from(&mut buffer).await {
            Ok((length, _)) => {
                dac.admission.count_received(length);
                if let Err(code) = dac.datagrams.pass(&buffer[..length]) {
                    dac.admission.count_refused(code);
                }
            }
            // Such as a peer that is told of a port that is closed: that concerns nobody here. A socket that fails each time shall not cost a core.
            Err(error) => {
                tracing::debug!(%error, "receiving a datagram failed");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

impl Datagrams {
    fn pass(&self, datagram: &[u8]) -> Result<(), &'static str> {
        let (token, batch) = udp::parse(datagram).map_err(|error| error.code())?;
        let routes = self.routes.lock().unwrap_or_else(PoisonError::into_inner);
        let route = routes.get(&token).ok_or("datagram_foreign")?;
        route.try_send(batch.to_vec()).map_err(|_| "datagram_overrun")
    }
}
