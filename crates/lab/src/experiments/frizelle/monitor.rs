//! The system's metrics once a second, as the study had them from vmstat: of the machine, and of the server alone.

use crate::cpu;
use std::{
    sync::mpsc::{self, RecvTimeoutError, Sender},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

const PERIOD: Duration = Duration::from_secs(1);

/// One second.
#[derive(Debug, Clone, Copy)]
pub struct Watched {
    /// Seconds since the start.
    pub at: f64,
    /// Processor time of the server, percent of one core.
    pub server_cpu: f64,
    /// Resident memory of the server, in bytes.
    pub server_memory: u64,
    /// Use of all cores, percent.
    pub system_cpu: f64,
    /// Active memory of the machine, in bytes.
    pub system_memory: u64,
}

/// Watches a process and its children until it is stopped.
#[derive(Debug)]
pub struct Monitor {
    stop: Sender<()>,
    thread: JoinHandle<Vec<Watched>>,
}

impl Monitor {
    /// Starts; each second goes to the function too.
    pub fn start(pid: u32, mut each: impl FnMut(&Watched) + Send + 'static) -> Self {
        let (stop, stopped) = mpsc::channel();
        let thread = thread::spawn(move || {
            let began = Instant::now();
            let mut watched = Vec::new();
            let mut before = Reading::now(pid);
            while stopped.recv_timeout(PERIOD) == Err(RecvTimeoutError::Timeout) {
                let Some(now) = Reading::now(pid) else { break };
                if let Some(before) = before.replace(now) {
                    let second = now.since(&before, began);
                    each(&second);
                    watched.push(second);
                }
            }
            watched
        });
        Self { stop, thread }
    }

    /// Stops, and returns all seconds.
    pub fn stop(self) -> Vec<Watched> {
        drop(self.stop);
        self.thread.join().unwrap_or_default()
    }
}

#[derive(Debug, Clone, Copy)]
struct Reading {
    at: Instant,
    server: Duration,
    memory: u64,
    busy: u64,
    all: u64,
}

impl Reading {
    /// None once the process has ended.
    fn now(pid: u32) -> Option<Self> {
        let family = cpu::family(pid);
        let server = family.iter().filter_map(|pid| cpu::time(*pid).ok()).sum();
        let memory = family.iter().filter_map(|pid| cpu::resident(*pid).ok()).sum();
        let (busy, all) = cpu::system_ticks()?;
        (memory > 0).then(|| Self { at: Instant::now(), server, memory, busy, all })
    }

    fn since(&self, before: &Self, began: Instant) -> Watched {
        let elapsed = (self.at - before.at).as_secs_f64().max(1e-3);
        let ticks = self.all.saturating_sub(before.all).max(1);
        Watched {
            at: (self.at - began).as_secs_f64(),
            server_cpu: self.server.saturating_sub(before.server).as_secs_f64() / elapsed * 100.0,
            server_memory: self.memory,
            system_cpu: self.busy.saturating_sub(before.busy) as f64 / ticks as f64 * 100.0,
            system_memory: cpu::memory("Active").unwrap_or_default(),
        }
    }
}
