//! A line on a terminal that says how far something is, and goes when it is over.

use std::{
    io::{self, IsTerminal, Write},
    time::{Duration, Instant},
};

/// What is over by then needs no line.
const QUIET: Duration = Duration::from_secs(1);
/// How often the line changes.
const EACH: Duration = Duration::from_millis(250);

/// How far something is.
pub struct Progress {
    is_seen: bool,
    begun: Instant,
    told: Option<Instant>,
}

impl Progress {
    /// Of something that prints nothing to standard output.
    pub fn new() -> Self {
        Self { is_seen: io::stderr().is_terminal(), begun: Instant::now(), told: None }
    }

    /// Of something that goes to standard output: nothing is said between its lines on one terminal.
    pub fn beside_output() -> Self {
        let progress = Self::new();
        Self { is_seen: progress.is_seen && !io::stdout().is_terminal(), ..progress }
    }

    /// Says how far it is, if it is time to. Cheap, but for a look at the clock.
    pub fn tell(&mut self, line: impl FnOnce() -> String) {
        if !self.is_seen
            || self.begun.elapsed() < QUIET
            || self.told.is_some_and(|told| told.elapsed() < EACH)
        {
            return;
        }
        self.told = Some(Instant::now());
        eprint!("\r\x1b[K{}", line());
        // A terminal that is gone is told nothing.
        let _ = io::stderr().flush();
    }

    /// Takes the line away, for others that stay.
    pub fn clear(&mut self) {
        if self.told.take().is_some() {
            eprint!("\r\x1b[K");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}
