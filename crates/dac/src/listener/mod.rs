//! Listeners: sockets that peers connect to, and which of their connections are served.
//!
//! [`bind`] opens a listener, and an [`Acceptor`] takes its connections. A [`Gate`] refuses those beyond a limit, and a [`Farewell`] tells
//! them why. [`Handshakes`] make each a [`Stream`], encrypted if the listener has certificates. The doors and the data channel use the same ones.

mod acceptor;
mod addresses;
pub mod descriptors;
mod farewell;
mod gate;
mod handshakes;
mod stream;

pub use acceptor::Acceptor;
pub use addresses::{AddressPermit, Addresses, counted};
pub use farewell::Farewell;
pub use gate::{Connection, Gate, Refusal};
pub use handshakes::{Handshakes, NoHandshake, Settings};
pub use stream::Stream;

use std::io;
use tokio::net::{TcpListener, TcpSocket, lookup_host};

/// Connections that wait to be accepted. The system lowers it to `net.core.somaxconn`.
const BACKLOG: u32 = 4_096;

/// Listens on `address`, HOST:PORT.
///
/// # Errors
/// The last one, if no address of the host can be listened on.
pub async fn bind(address: &str) -> io::Result<TcpListener> {
    let mut last = io::Error::new(io::ErrorKind::InvalidInput, "the host has no address");
    for address in lookup_host(address).await? {
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        // As the standard library does: a restart need not wait for connections of the process before it.
        socket.set_reuseaddr(true)?;
        match socket.bind(address).and_then(|()| socket.listen(BACKLOG)) {
            Ok(listener) => return Ok(listener),
            Err(error) => last = error,
        }
    }
    Err(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{net::TcpStream, time::Duration};

    /// Without room in the backlog the system ignores a connection, so its client waits.
    const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

    #[tokio::test]
    async fn more_connections_than_the_usual_backlog_wait_to_be_accepted() {
        let listener = bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let waiting: Vec<_> =
            (0..300).map(|_| TcpStream::connect_timeout(&address, CONNECT_TIMEOUT).unwrap()).collect();
        assert_eq!(waiting.len(), 300);
    }

    #[tokio::test]
    async fn an_address_in_use_is_an_error() {
        let listener = bind("localhost:0").await.unwrap();
        let taken = bind(&listener.local_addr().unwrap().to_string()).await.unwrap_err();
        assert_eq!(taken.kind(), io::ErrorKind::AddrInUse);
        assert!(bind("127.0.0.1").await.is_err());
    }
}
