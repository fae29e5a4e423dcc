//! The system's metrics once a second: of the machine, of the server alone, and of parts of server and load.

use crate::cpu;
use std::{
    sync::mpsc::{self, RecvTimeoutError, Sender},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

const SAMPLE_INTERVAL: Duration = Duration::from_secs(1);

/// A process or a thread that is watched by itself.
#[derive(Debug, Clone)]
pub struct Part {
    /// Name of its series.
    pub name: String,
    /// Its process.
    pub pid: u32,
    /// Its thread; the whole process if absent.
    pub thread: Option<u32>,
}

impl Part {
    /// Its processor time so far.
    pub fn cpu(&self) -> anyhow::Result<Duration> {
        match self.thread {
            Some(thread) => cpu::thread_time(self.pid, thread),
            None => cpu::time(self.pid),
        }
    }
}

/// One second.
#[derive(Debug, Clone)]
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
    /// Processor time of each part, percent of one core; 0 once it has ended.
    pub parts: Vec<f64>,
}

/// Watches processes and their children until it is stopped.
#[derive(Debug)]
pub struct Monitor {
    stop: Sender<()>,
    thread: JoinHandle<Vec<Watched>>,
}

impl Monitor {
    /// Watches a server's processes, and parts of server and load; each second goes to the function too.
    pub fn start(
        server: Vec<u32>,
        parts: Vec<Part>,
        mut each: impl FnMut(&Watched) + Send + 'static,
    ) -> Self {
        let (stop, stopped) = mpsc::channel();
        let thread = thread::spawn(move || {
            let began = Instant::now();
            let mut watched = Vec::new();
            let mut before = Reading::now(&server, &parts);
            while stopped.recv_timeout(SAMPLE_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                let Some(now) = Reading::now(&server, &parts) else { break };
                let earlier = before.replace(now.clone());
                if let Some(before) = earlier {
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

#[derive(Debug, Clone)]
struct Reading {
    at: Instant,
    server: Duration,
    memory: u64,
    busy: u64,
    all: u64,
    parts: Vec<Duration>,
}

impl Reading {
    /// None once the processes have ended.
    fn now(server: &[u32], parts: &[Part]) -> Option<Self> {
        let family: Vec<u32> = server.iter().flat_map(|pid| cpu::family(*pid)).collect();
        let server = family.iter().filter_map(|pid| cpu::time(*pid).ok()).sum();
        let memory = family.iter().filter_map(|pid| cpu::resident(*pid).ok()).sum();
        let (busy, all) = cpu::system_ticks()?;
        let parts = parts.iter().map(|part| part.cpu().unwrap_or_default()).collect();
        (memory > 0).then(|| Self { at: Instant::now(), server, memory, busy, all, parts })
    }

    fn since(&self, before: &Self, began: Instant) -> Watched {
        let elapsed = (self.at - before.at).as_secs_f64().max(1e-3);
        let ticks = self.all.saturating_sub(before.all).max(1);
        let percent =
            |now: Duration, before: Duration| now.saturating_sub(before).as_secs_f64() / elapsed * 100.0;
        Watched {
            at: (self.at - began).as_secs_f64(),
            server_cpu: percent(self.server, before.server),
            server_memory: self.memory,
            system_cpu: self.busy.saturating_sub(before.busy) as f64 / ticks as f64 * 100.0,
            system_memory: cpu::memory("Active").unwrap_or_default(),
            parts: self.parts.iter().zip(&before.parts).map(|(now, before)| percent(*now, *before)).collect(),
        }
    }
}
