//! The signals that end a process.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that end a process, handled before it reports that it is ready.
pub struct Stop {
    terminate: Signal,
    interrupt: Signal,
}

impl Stop {
    pub fn listen() -> anyhow::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    /// Completes at the next signal.
    pub async fn requested(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }

    /// Ends the process in order, unless another signal asks for its end at once.
    pub async fn unless_again(
        &mut self,
        ending: impl Future<Output = anyhow::Result<()>>,
    ) -> anyhow::Result<()> {
        tokio::select! {
            ended = ending => ended,
            () = self.requested() => {
                anyhow::bail!("ended at once by a second signal: the last samples may not be stored or sent")
            }
        }
    }
}
