//! A progress line on a terminal, which is removed at the end.

use std::{
    io::{self, IsTerminal, Write},
    time::{Duration, Instant},
};

/// Time before the first line.
const FIRST_LINE_DELAY: Duration = Duration::from_secs(1);
/// Interval of updates.
const UPDATE_INTERVAL: Duration = Duration::from_millis(250);

/// A progress line.
pub struct Progress {
    is_seen: bool,
    begun: Instant,
    shown: Option<Instant>,
}

impl Progress {
    /// Creates a progress line for a task without standard output.
    pub fn new() -> Self {
        Self { is_seen: io::stderr().is_terminal(), begun: Instant::now(), shown: None }
    }

    /// Creates a progress line for a task with standard output: silent if that is the same terminal.
    pub fn beside_output() -> Self {
        let progress = Self::new();
        Self { is_seen: progress.is_seen && !io::stdout().is_terminal(), ..progress }
    }

    /// Updates the line if it is due. Costs only a clock read otherwise.
    pub fn show(&mut self, line: impl FnOnce() -> String) {
        if !self.is_seen
            || self.begun.elapsed() < FIRST_LINE_DELAY
            || self.shown.is_some_and(|shown| shown.elapsed() < UPDATE_INTERVAL)
        {
            return;
        }
        self.shown = Some(Instant::now());
        eprint!("\r\x1b[K{}", line());
        // Ignores errors of a closed terminal.
        let _ = io::stderr().flush();
    }

    /// Removes the line, before other output.
    pub fn clear(&mut self) {
        if self.shown.take().is_some() {
            eprint!("\r\x1b[K");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}
