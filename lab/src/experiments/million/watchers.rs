//! The processes of clients, as the runner sees them.

use super::holder::{Arrivals, Holding, Orders};
use crate::experiment::{Interrupt, LoadProcess};
use anyhow::{bail, ensure};
use std::{
    io::{BufRead, BufReader},
    net::{Ipv4Addr, SocketAddr},
    sync::mpsc::{self, Receiver, RecvTimeoutError, Sender},
    thread,
    time::{Duration, Instant},
};

/// Subcommand of the lab's binary that is a process of clients.
const HOLD: &str = "hold-load";
/// Processes that connect at the same time.
const MAX_CONNECTING_PROCESSES: usize = 3;
/// Interval between two checks of Ctrl-C.
const INTERRUPT_POLL_INTERVAL: Duration = Duration::from_millis(200);
/// Timeout of processes that report nothing new.
const REPORT_TIMEOUT: Duration = Duration::from_secs(90);

/// All clients.
#[derive(Debug)]
pub struct Watchers {
    processes: Vec<LoadProcess>,
    seen: Vec<Holding>,
    to_reports: Sender<(usize, Option<Holding>)>,
    reports: Receiver<(usize, Option<Holding>)>,
    interrupt: Interrupt,
}

impl Watchers {
    /// No clients yet.
    pub fn new(interrupt: &Interrupt) -> Self {
        let (to_reports, reports) = mpsc::channel();
        let (processes, seen) = Default::default();
        Self { processes, seen, to_reports, reports, interrupt: interrupt.clone() }
    }

    /// Connects `clients` to each relay, and waits until each has a sample or has ended. `each` gets the sum of the clients that have one, now and then.
    pub fn connect(
        &mut self,
        relays: &[(SocketAddr, usize)],
        mut each: impl FnMut(usize),
    ) -> anyhow::Result<()> {
        let mut waiting = relays.iter().enumerate();
        let wanted: Vec<usize> = relays.iter().map(|(_, clients)| *clients).collect();
        loop {
            let is_done = |(seen, wanted): &(&Holding, &usize)| seen.served + seen.ended >= **wanted;
            let done = self.seen.iter().zip(&wanted).filter(is_done).count();
            if done == wanted.len() {
                return Ok(());
            }
            while self.processes.len() - done < MAX_CONNECTING_PROCESSES
                && let Some((number, (relay, clients))) = waiting.next()
            {
                self.start(&Orders { relay: *relay, source: source(number), clients: *clients })?;
            }
            ensure!(
                self.next()?,
                "clients do not get on: {} of {} have a sample",
                self.served(),
                sum(&wanted)
            );
            each(self.served());
        }
    }

    fn start(&mut self, orders: &Orders) -> anyhow::Result<()> {
        let (process, stdout) = LoadProcess::start(HOLD, &serde_json::to_string(orders)?)?;
        let (number, reports) = (self.processes.len(), self.to_reports.clone());
        self.processes.push(process);
        self.seen.push(Holding::default());
        thread::Builder::new().name("clients".into()).spawn(move || {
            // Until the process ends, or writes what is no report.
            let lines = BufReader::new(stdout).lines().map_while(Result::ok);
            let holdings = lines.map_while(|line| serde_json::from_str(&line).ok());
            // Fails if the runner has ended the cell.
            let _ = holdings.map(Some).chain([None]).try_for_each(|seen| reports.send((number, seen)));
        })?;
        Ok(())
    }

    /// Waits until every client has a sample with this number, or has ended. Returns whether that is so, and when the last one got it.
    pub fn wait_for(&mut self, sample: u32) -> anyhow::Result<(bool, Duration)> {
        loop {
            let arrivals = self.arrivals(sample);
            let is_there = arrivals.clients >= self.served();
            if is_there || !self.next()? {
                return Ok((is_there, Duration::from_nanos(arrivals.longest_ns)));
            }
        }
    }

    /// Takes the next report. Returns false if there is none for long.
    fn next(&mut self) -> anyhow::Result<bool> {
        let begun = Instant::now();
        while begun.elapsed() < REPORT_TIMEOUT {
            self.interrupt.check()?;
            match self.reports.recv_timeout(INTERRUPT_POLL_INTERVAL) {
                Ok((number, Some(holding))) => {
                    self.seen.get_mut(number).into_iter().for_each(|seen| *seen = holding.clone());
                    return Ok(true);
                }
                Ok((number, None)) => bail!("process {number} of the clients has ended: see above"),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
        }
        Ok(false)
    }

    /// Returns the reports after a time in which no more come.
    pub fn settle(&mut self, calm: Duration) -> anyhow::Result<Holding> {
        loop {
            match self.reports.recv_timeout(calm) {
                Ok((number, Some(holding))) => {
                    self.seen.get_mut(number).into_iter().for_each(|seen| *seen = holding.clone());
                }
                Ok((number, None)) => bail!("process {number} of the clients has ended: see above"),
                Err(_) => return Ok(self.sum()),
            }
        }
    }

    /// Clients that are there and have a sample.
    pub fn served(&self) -> usize {
        self.seen.iter().map(|seen| seen.served).sum()
    }

    /// Numbers of the processes.
    pub fn pids(&self) -> impl Iterator<Item = u32> {
        self.processes.iter().map(LoadProcess::pid)
    }

    fn arrivals(&self, sample: u32) -> Arrivals {
        let all = self.seen.iter().filter_map(|seen| seen.samples.get(&sample));
        all.fold(Arrivals::default(), |sum, arrivals| Arrivals {
            clients: sum.clients + arrivals.clients,
            longest_ns: sum.longest_ns.max(arrivals.longest_ns),
        })
    }

    fn sum(&self) -> Holding {
        self.seen.iter().fold(Holding::default(), |mut sum, seen| {
            sum.open += seen.open;
            sum.served += seen.served;
            sum.ended += seen.ended;
            sum.reason = sum.reason.or_else(|| seen.reason.clone());
            sum.lost += seen.lost;
            sum.twice += seen.twice;
            sum
        })
    }
}

fn sum(counts: &[usize]) -> usize {
    counts.iter().sum()
}

/// Addresses of the loopback network: one has too few ports.
fn source(process: usize) -> std::net::IpAddr {
    let [high, low] = [process / 250, process % 250 + 1].map(|part| part as u8);
    Ipv4Addr::new(127, 3, high, low).into()
}
