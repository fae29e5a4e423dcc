//! Access to a server: with TLS, and with a header that authenticates the client.

use rustls::{ClientConfig, ClientConnection, StreamOwned, pki_types::ServerName};
use std::{
    io::{self, Read, Write},
    net::{Ipv4Addr, TcpStream},
    sync::Arc,
};

/// Access to a server. By default without TLS and without a sign-in, as a client on this host.
#[derive(Debug, Clone, Default)]
pub struct Entrance {
    /// The settings of TLS, if the server speaks it.
    pub tls: Option<Arc<ClientConfig>>,
    /// A line of each request with its end, or nothing.
    pub header: String,
}

/// A connection that blocks.
pub trait Connection: Read + Write {}

impl<T: Read + Write> Connection for T {}

impl Entrance {
    /// Connects.
    ///
    /// # Errors
    /// Returns the errors of the socket; TLS fails with the first write.
    pub fn connect(&self, address: &str) -> io::Result<Box<dyn Connection>> {
        let socket = TcpStream::connect(address)?;
        let Some(config) = &self.tls else { return Ok(Box::new(socket)) };
        let session = ClientConnection::new(config.clone(), loopback()).map_err(io::Error::other)?;
        Ok(Box::new(StreamOwned::new(session, socket)))
    }
}

/// The name in the certificate of every server of the lab.
pub fn loopback() -> ServerName<'static> {
    ServerName::IpAddress(Ipv4Addr::LOCALHOST.into())
}
