//! The signals that end a process.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that end a process, handled before it reports that it is ready.
pub struct Stop {
    terminate: Signal,
    interrupt: Signal,
    /// The terminal has gone away. None under `nohup`, which ignores this signal.
    hangup: Option<Signal>,
}

impl Stop {
    pub fn listen() -> anyhow::Result<Self> {
        let hangup = (!is_ignored(SignalKind::hangup())).then(|| signal(SignalKind::hangup())).transpose()?;
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup,
        })
    }

    /// Completes at the next signal.
    pub async fn requested(&mut self) {
        let Self { terminate, interrupt, hangup } = self;
        let hangup = async {
            match hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup => {}
        }
    }

    /// Ends the process in order, unless another signal asks for its end at once. A hangup does not: shell and kernel
    /// send one each.
    pub async fn unless_again(
        &mut self,
        ending: impl Future<Output = anyhow::Result<()>>,
    ) -> anyhow::Result<()> {
        let again = async {
            tokio::select! {
                _ = self.interrupt.recv() => {}
                _ = self.terminate.recv() => {}
            }
        };
        tokio::select! {
            ended = ending => ended,
            () = again => {
                anyhow::bail!("ended at once by a second signal: the last samples may not be stored or sent")
            }
        }
    }
}

/// Returns whether this process was started with the signal ignored (`SigIgn` of proc(5)).
fn is_ignored(signal: SignalKind) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    ignored & (1 << (signal.as_raw_value() - 1)) != 0
}
