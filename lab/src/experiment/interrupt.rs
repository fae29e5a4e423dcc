//! Ctrl-C and SIGTERM: end the run after what is finished.

use anyhow::{Context, bail};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};
use tokio::signal::{
    ctrl_c,
    unix::{SignalKind, signal},
};

/// Whether the run should end.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Takes the signals from now on. The second one ends the process at once.
    pub fn install() -> anyhow::Result<Self> {
        let interrupt = Self::default();
        let set = interrupt.0.clone();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        let mut terminate = {
            let _entered = runtime.enter();
            signal(SignalKind::terminate()).context("cannot wait for SIGTERM")?
        };
        thread::Builder::new()
            .name("interrupt".into())
            .spawn(move || {
                runtime.block_on(async {
                    loop {
                        tokio::select! {
                            pressed = ctrl_c() => if pressed.is_err() { return },
                            _ = terminate.recv() => {}
                        }
                        if set.swap(true, Ordering::Relaxed) {
                            std::process::exit(130);
                        }
                    }
                });
            })
            .context("cannot start a thread for Ctrl-C")?;
        Ok(interrupt)
    }

    /// Whether Ctrl-C was pressed.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Fails once Ctrl-C was pressed.
    pub fn check(&self) -> anyhow::Result<()> {
        if self.is_set() {
            bail!("interrupted");
        }
        Ok(())
    }
}
