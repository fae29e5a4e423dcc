//! Accepts connections, whatever the system says.

use std::{io, net::SocketAddr, time::Duration};
use tokio::net::{TcpListener, TcpStream};

/// Shortest pause after a failure, such as for want of descriptors: connections that end meanwhile give theirs back.
const SHORTEST: Duration = Duration::from_millis(50);
/// Longest pause after many failures.
const LONGEST: Duration = Duration::from_secs(1);

/// Accepts the connections of a listener.
#[derive(Debug)]
pub struct Acceptor {
    listener: TcpListener,
    /// Pause after the next failure.
    pause: Duration,
}

impl Acceptor {
    /// Accepts from this listener.
    pub fn new(listener: TcpListener) -> Self {
        Self { listener, pause: SHORTEST }
    }

    /// Waits for the next connection. After a failure it pauses, longer each time, and logs the first of several failures. Can be cancelled.
    pub async fn accept(&mut self) -> (TcpStream, SocketAddr) {
        loop {
            match self.listener.accept().await {
                Ok(accepted) => {
                    self.pause = SHORTEST;
                    return accepted;
                }
                Err(error) if is_of_peer(&error) => {
                    tracing::debug!(%error, "a peer left before it was accepted")
                }
                Err(error) => self.rest(&error).await,
            }
        }
    }

    async fn rest(&mut self, error: &io::Error) {
        if self.pause == SHORTEST {
            tracing::warn!(
                %error, listener = ?self.listener.local_addr().ok(),
                "cannot accept connections: is the limit of open files too low (LimitNOFILE, ulimit -n)?"
            );
        }
        let pause = self.pause;
        // Before the pause, which may be cancelled.
        self.pause = (pause * 2).min(LONGEST);
        tokio::time::sleep(pause).await;
    }
}

/// accept(2): the connection failed, not the listener.
fn is_of_peer(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted)
}
