//! Ctrl-C: ends the run after what is finished.

use anyhow::{Context, bail};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

/// Whether the run should end.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Takes Ctrl-C from now on. The second one ends the process at once.
    pub fn install() -> anyhow::Result<Self> {
        let interrupt = Self::default();
        let set = interrupt.0.clone();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        thread::Builder::new()
            .name("interrupt".into())
            .spawn(move || {
                runtime.block_on(async {
                    while tokio::signal::ctrl_c().await.is_ok() {
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
