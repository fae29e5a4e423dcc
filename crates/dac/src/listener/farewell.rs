//! The last message to a refused peer.

use super::Stream;
use std::{
    io::{self, Write},
    sync::Arc,
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    sync::Semaphore,
    time::timeout,
};

/// Peers that are waited for at the same time. Each has a descriptor.
const MAX_CLOSING_PEERS: usize = 32;
/// Timeout for a peer to read the message and to close.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);
/// Bytes of a peer that are read and ignored.
const MAX_IGNORED_BYTES: u64 = 64 * 1024;

/// Sends last messages to refused peers. Clones share their bound.
#[derive(Debug, Clone)]
pub struct Farewell(Arc<Semaphore>);

impl Default for Farewell {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MAX_CLOSING_PEERS)))
    }
}

impl Farewell {
    /// Sends `message` and closes. A socket that is closed with unread bytes resets the connection, and the peer may lose the message; so
    /// this waits for the peer to close first, but not long, and only for some peers.
    pub fn send_and_close(&self, stream: Stream, message: Vec<u8>) {
        if let Ok(permit) = self.0.clone().try_acquire_owned() {
            tokio::spawn(async move {
                Self::send(stream, &message).await;
                drop(permit);
            });
        } else if let Stream::Plain(stream) = stream
            && let Ok(mut stream) = stream.into_std()
        {
            let _ = stream.write(&message);
        }
    }

    /// Sends `message`, and waits for the peer to close, but not long.
    pub async fn send(stream: impl AsyncRead + AsyncWrite + Unpin, message: &[u8]) {
        // A courtesy: a peer that does not read it is closed anyway.
        let _ = timeout(CLOSE_TIMEOUT, converse(stream, message)).await;
    }
}

async fn converse(mut stream: impl AsyncRead + AsyncWrite + Unpin, message: &[u8]) -> io::Result<()> {
    stream.write_all(message).await?;
    stream.shutdown().await?;
    tokio::io::copy(&mut stream.take(MAX_IGNORED_BYTES), &mut tokio::io::sink()).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::{TcpListener, TcpStream};

    #[tokio::test]
    async fn a_peer_that_has_sent_something_receives_the_message() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut peer = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        peer.write_all(b"a request that nobody reads").await.unwrap();
        let (stream, _) = listener.accept().await.unwrap();
        stream.readable().await.unwrap();
        Farewell::default().send_and_close(Stream::Plain(stream), b"no".to_vec());
        let mut answer = Vec::new();
        peer.read_to_end(&mut answer).await.unwrap();
        assert_eq!(answer, b"no");
    }

    #[tokio::test]
    async fn many_refused_peers_are_closed_at_once() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (farewell, mut peers) = (Farewell::default(), Vec::new());
        for _ in 0..MAX_CLOSING_PEERS + 8 {
            peers.push(TcpStream::connect(listener.local_addr().unwrap()).await.unwrap());
            let (stream, _) = listener.accept().await.unwrap();
            farewell.send_and_close(Stream::Plain(stream), b"no".to_vec());
        }
        for peer in &mut peers {
            let mut answer = Vec::new();
            peer.read_to_end(&mut answer).await.unwrap();
            assert_eq!(answer, b"no");
        }
    }
}
