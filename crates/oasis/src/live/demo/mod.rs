//! `oasis demo`: a plant of three nodes that lose samples, restart and raise alarms, for tours and pictures.

mod boiler;
mod pump;
mod robot;

use anyhow::Context;
use oasis_channel::Connector;
use oasis_probe::Node;
use std::{
    path::Path,
    sync::mpsc::{self, RecvTimeoutError, Sender},
    thread::JoinHandle,
    time::{Duration, Instant},
};

/// The alarms of the plant.
const RULES: &str = include_str!("plant.rules");

/// Makes the connection of a node that starts.
type Connect = Box<dyn Fn() -> Box<dyn Connector> + Send + Sync>;

/// The running plant.
pub struct Plant {
    pump: Node,
    /// Threads that work until their sender is dropped.
    threads: Vec<(Sender<()>, JoinHandle<()>)>,
}

impl Plant {
    /// Starts the nodes, each with a connection of its own.
    ///
    /// # Errors
    /// If a node cannot start.
    pub fn start(connect: impl Fn() -> Box<dyn Connector> + Send + Sync + 'static) -> anyhow::Result<Self> {
        let connect: Connect = Box::new(connect);
        let (boiler, robot, pump) =
            (boiler::start(&connect)?, robot::start(&connect)?, pump::start(&connect)?);
        let threads = vec![
            thread("demo-robot", |stop| robot.run(&stop))?,
            thread("demo-boiler", move |stop| boiler::run(boiler, &connect, &stop))?,
        ];
        Ok(Self { pump, threads })
    }

    /// Ends all nodes, and sends what they have.
    pub fn stop(self) {
        for (stop, thread) in self.threads {
            drop(stop);
            // A thread that has died has said why.
            let _ = thread.join();
        }
        self.pump.shutdown();
    }
}

/// Writes the rules of the plant into a folder.
///
/// # Errors
/// If it cannot be written.
pub fn write_rules(folder: &Path) -> anyhow::Result<String> {
    let file = folder.join("plant.rules");
    std::fs::write(&file, RULES).with_context(|| format!("cannot write {}", file.display()))?;
    Ok(file.to_string_lossy().into_owned())
}

fn thread(
    name: &str,
    work: impl FnOnce(Stop) + Send + 'static,
) -> anyhow::Result<(Sender<()>, JoinHandle<()>)> {
    let (sender, receiver) = mpsc::channel();
    let thread = std::thread::Builder::new().name(name.into()).spawn(move || work(Stop(receiver)))?;
    Ok((sender, thread))
}

/// When a thread has to end.
struct Stop(mpsc::Receiver<()>);

impl Stop {
    /// Waits; returns whether the thread has to end.
    fn within(&self, time: Duration) -> bool {
        self.0.recv_timeout(time) != Err(RecvTimeoutError::Timeout)
    }
}

/// Returns the phase of a cycle of this many seconds, from 0 to 1.
fn cycle(since: Instant, seconds: f64) -> f64 {
    (since.elapsed().as_secs_f64() / seconds).fract()
}
