//! Accepts a stream that another transport carries, at the DAC.

use std::io;
use tokio::net::{TcpListener, TcpStream};

/// The data channel of a DAC, as a transport needs it.
pub trait Accept: Send + Sync + 'static {
    /// Takes a connection, and serves it until it ends. Returns why if there is no room.
    ///
    /// # Errors
    /// If the DAC accepts no more nodes.
    fn take(&self, stream: TcpStream) -> Result<(), String>;
}

/// Returns two ends of a connection within this process.
///
/// # Errors
/// If the system refuses sockets.
pub async fn pair() -> io::Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let near = TcpStream::connect(listener.local_addr()?).await?;
    loop {
        // Another process may find the port.
        let (far, peer) = listener.accept().await?;
        if peer == near.local_addr()? {
            near.set_nodelay(true)?;
            far.set_nodelay(true)?;
            return Ok((near, far));
        }
    }
}
