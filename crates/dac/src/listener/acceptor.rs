//! Accepts connections, whatever the system says.

use crate::log_limit::LogLimit;
use std::{
    io,
    net::SocketAddr,
    time::{Duration, Instant},
};
use tokio::net::{TcpListener, TcpStream};

/// Shortest pause after a failure, such as for want of descriptors: connections that end meanwhile give theirs back. After a flood thousands of closed ones
/// wait to be accepted, a few at a time.
const MIN_PAUSE: Duration = Duration::from_millis(1);
/// Longest pause after many failures: so long a client waits once descriptors are free again.
const MAX_PAUSE: Duration = Duration::from_millis(250);
/// At most one failure is logged in this time.
const LOG_PERIOD: Duration = Duration::from_secs(10);

/// Accepts the connections of a listener.
#[derive(Debug)]
pub struct Acceptor {
    listener: TcpListener,
    /// Pause after the next failure.
    pause: Duration,
    log: LogLimit,
}

impl Acceptor {
    /// Accepts from this listener.
    pub fn new(listener: TcpListener) -> Self {
        Self { listener, pause: MIN_PAUSE, log: LogLimit::new(1, LOG_PERIOD) }
    }

    /// Waits for the next connection. After a failure it pauses, longer each time, and logs one in 10 s. Can be cancelled.
    pub async fn accept(&mut self) -> (TcpStream, SocketAddr) {
        loop {
            match self.listener.accept().await {
                Ok(accepted) => {
                    self.pause = MIN_PAUSE;
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
        if let Some(left_out) = self.log.admit(Instant::now()) {
            let others = left_out.others();
            tracing::warn!(
                %error, others, listener = ?self.listener.local_addr().ok(),
                "cannot accept connections: is the limit of open files too low (LimitNOFILE, ulimit -n)?"
            );
        }
        let pause = self.pause;
        // Before the pause, which may be cancelled.
        self.pause = (pause * 2).min(MAX_PAUSE);
        tokio::time::sleep(pause).await;
    }
}

/// accept(2): the connection failed, not the listener.
fn is_of_peer(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted)
}
