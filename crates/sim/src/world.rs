//! The simulated world: hosts, the network between them, and the queue of events.

use crate::{
    dac::DacHost,
    liar::Liar,
    network::{Delivery, Network, Side},
    node::NodeHost,
    oracle::{End, Oracle},
    plan::{Fault, Plan},
    planted::Planted,
    shared::{AWAY, Event, Scheduled, Shared},
    system::{self, NANOS_PER_SECOND, disk::Faults},
    trace::Trace,
};
use anyhow::{Context as _, bail};
use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap},
    path::Path,
};

/// Longest that an armed crash waits for changes of the disk.
const ARMED: u64 = 2 * NANOS_PER_SECOND;
/// Time in which nodes must deliver everything once all faults have ended.
const DRAIN_TIMEOUT: u64 = 240 * NANOS_PER_SECOND;

/// Way in which a host's process is about to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Crash {
    Kill,
    PowerCut,
}

/// The world.
#[derive(Debug)]
pub struct World {
    /// State that all hosts share.
    pub shared: Shared,
    /// The DAC's host.
    pub dac: DacHost,
    nodes: Vec<NodeHost>,
    liars: Vec<Liar>,
    /// By disk.
    armed: BTreeMap<usize, Crash>,
    is_ending: bool,
}

impl World {
    /// Creates the world of a plan.
    ///
    /// # Errors
    /// If the folders of the hosts cannot be created.
    pub fn new(plan: Plan, seed: u64, planted: Option<Planted>, is_shown: bool) -> anyhow::Result<Self> {
        let mut random = fastrand::Rng::with_seed(seed ^ 0x005e_ed00);
        let network = Network::new(&plan, random.fork());
        let (disk, folder) = system::disk(|disk| disk.add_host())?;
        let dac = DacHost::new(disk, folder);
        let mut nodes = Vec::new();
        for (index, plan) in plan.nodes.iter().enumerate() {
            let (disk, folder) = system::disk(|disk| disk.add_host())?;
            nodes.push(NodeHost::new(index, disk, folder, plan.clone(), &mut random));
        }
        if planted == Some(Planted::MissingSync) {
            system::disk(|disk| disk.ignore_syncs_of("oseg"));
        }
        let shared = Shared {
            now: 0,
            random,
            network,
            trace: Trace::new(is_shown),
            oracle: Oracle::default(),
            planted,
            plan,
            is_dac_up: false,
            is_sampling: true,
            is_over: false,
            opened: Vec::new(),
            findings: Vec::new(),
            queue: BinaryHeap::new(),
            order: 0,
        };
        Ok(Self { shared, dac, nodes, liars: Vec::new(), armed: BTreeMap::new(), is_ending: false })
    }

    /// Runs until everything is delivered and stored, and all processes have ended.
    ///
    /// # Errors
    /// If the nodes do not deliver everything, or the simulation itself fails.
    pub fn run(&mut self) -> anyhow::Result<()> {
        self.shared.at(0, Event::StartDac);
        for node in 0..self.nodes.len() {
            let delay = self.shared.random.u64(0..NANOS_PER_SECOND);
            self.shared.at(delay, Event::StartNode(node));
        }
        for (at, fault) in self.shared.plan.faults.clone() {
            self.shared.at(at, Event::Fault(fault));
        }
        self.run_until(self.shared.plan.duration)?;
        self.heal();
        self.drain()?;
        self.end_nodes()?;
        // A run that was not safe in time stays in its file until the next start.
        if self.nodes.iter().any(|node| node.has_files(&self.shared)) {
            for node in 0..self.nodes.len() {
                self.nodes[node].start(&mut self.shared)?;
            }
            self.drain()?;
            self.end_nodes()?;
        }
        self.dac.stop(&mut self.shared)?;
        Ok(())
    }

    /// Ends all nodes, and waits for it.
    fn end_nodes(&mut self) -> anyhow::Result<()> {
        self.shared.is_over = true;
        for node in 0..self.nodes.len() {
            self.nodes[node].leave(&mut self.shared);
        }
        let limit = self.shared.now + DRAIN_TIMEOUT;
        while self.nodes.iter().any(|node| node.process.is_some()) {
            self.step(limit)?.context("nodes do not end")?;
        }
        self.shared.is_over = false;
        Ok(())
    }

    /// Ends all faults.
    fn heal(&mut self) {
        self.shared.note("all faults end");
        let now = self.shared.now;
        self.is_ending = true;
        self.shared.network.heal(now);
        for host in self.hosts() {
            system::disk(|disk| {
                disk.set_faults(host, Faults::default());
                disk.disarm(host);
            });
        }
        self.armed.clear();
        self.shared.is_sampling = false;
    }

    fn hosts(&self) -> Vec<usize> {
        self.nodes.iter().map(|node| node.disk).chain([self.dac.disk]).collect()
    }

    /// Runs until every node has delivered what it has.
    fn drain(&mut self) -> anyhow::Result<()> {
        let limit = self.shared.now + DRAIN_TIMEOUT;
        // Processes that have ended start again.
        let least = self.shared.now + ARMED + AWAY + NANOS_PER_SECOND;
        while self.shared.now < least || !self.is_drained() {
            if self.step(limit)?.is_none() {
                let stuck: Vec<_> =
                    self.nodes.iter().filter(|node| !node.is_drained()).map(NodeHost::state).collect();
                bail!(
                    "stuck: {} s after the last fault not everything is delivered: {stuck:?}",
                    DRAIN_TIMEOUT / NANOS_PER_SECOND
                );
            }
        }
        Ok(())
    }

    fn is_drained(&self) -> bool {
        self.dac.process.is_some() && self.nodes.iter().all(NodeHost::is_drained)
    }

    fn run_until(&mut self, end: u64) -> anyhow::Result<()> {
        while self.step(end)?.is_some() {}
        self.shared.now = end;
        Ok(())
    }

    /// Handles the next event before a time; none if there is none.
    fn step(&mut self, limit: u64) -> anyhow::Result<Option<()>> {
        let Some(Reverse(Scheduled(at, _, event))) = self.shared.queue.pop() else { return Ok(None) };
        if at > limit {
            self.shared.queue.push(Reverse(Scheduled(at, 0, event)));
            return Ok(None);
        }
        self.shared.now = at;
        self.handle(event)?;
        for id in std::mem::take(&mut self.shared.opened) {
            self.dac.accept(id, &mut self.shared);
        }
        self.crash_frozen()?;
        if !self.shared.findings.is_empty() {
            bail!("{}", self.shared.findings.join("; "));
        }
        Ok(Some(()))
    }

    fn handle(&mut self, event: Event) -> anyhow::Result<()> {
        let shared = &mut self.shared;
        match event {
            Event::Node(node, generation, event) => {
                self.nodes[node].on_event(generation, event, shared)?;
            }
            Event::Dac(generation, event) => self.dac.on_event(generation, event, shared)?,
            Event::Delivery(delivery) => self.on_delivery(delivery)?,
            Event::Fault(fault) if !self.is_ending => self.on_fault(fault)?,
            Event::Fault(_) => {}
            Event::Repair(host) => system::disk(|disk| disk.set_faults(host, Faults::default())),
            Event::Crash(host) if self.armed.contains_key(&host) => system::disk(|disk| disk.freeze(host)),
            Event::Crash(_) => {}
            Event::StartNode(node) => self.nodes[node].start(shared)?,
            Event::StartDac => self.dac.start(shared)?,
            Event::Liar(index) => self.liars[index].on_event(index, shared),
        }
        Ok(())
    }

    fn on_delivery(&mut self, delivery: Delivery) -> anyhow::Result<()> {
        let shared = &mut self.shared;
        match delivery {
            Delivery::Bytes(id, _, _) if !shared.network.is_open(id) => {}
            Delivery::Bytes(id, Side::Dac, bytes) => self.dac.on_bytes(id, &bytes, shared)?,
            Delivery::End(id, Side::Dac) => self.dac.on_end(id, shared),
            Delivery::Datagram(id, bytes) => self.dac.on_datagram(id, &bytes, shared),
            Delivery::Bytes(id, Side::Node, bytes) => {
                if let Some(liar) = self.liars.iter().position(|liar| liar.connection == Some(id)) {
                    self.liars[liar].on_bytes(&bytes, shared);
                } else if let Some(node) = self.nodes.iter_mut().find(|node| node.has(id)) {
                    node.on_bytes(&bytes, shared)?;
                }
            }
            Delivery::End(id, Side::Node) => {
                if let Some(node) = self.nodes.iter_mut().find(|node| node.has(id)) {
                    node.on_end(shared)?;
                }
            }
        }
        Ok(())
    }

    fn on_fault(&mut self, fault: Fault) -> anyhow::Result<()> {
        self.shared.note(format!("fault: {fault:?}"));
        let now = self.shared.now;
        match fault {
            Fault::KillDac { after } => self.arm(self.dac.disk, Crash::Kill, after),
            Fault::CutDac { after } => self.arm(self.dac.disk, Crash::PowerCut, after),
            Fault::KillNode { node, after } => self.arm(self.nodes[node].disk, Crash::Kill, after),
            Fault::CutNode { node, after } => self.arm(self.nodes[node].disk, Crash::PowerCut, after),
            Fault::StopDac => {
                if self.dac.process.is_some() {
                    self.dac.stop(&mut self.shared)?;
                    let away = self.shared.random.u64(0..AWAY);
                    self.shared.after(away, Event::StartDac);
                }
            }
            Fault::StopNode { node } => self.nodes[node].leave(&mut self.shared),
            Fault::BreakLink { node } => {
                let ends = self.shared.network.cut_all(Some(node), now);
                self.shared.deliver(ends);
            }
            Fault::Partition { node, length } => self.shared.network.partition(node, now + length),
            Fault::FullDisk { node, length } => {
                let host = node.map_or(self.dac.disk, |node| self.nodes[node].disk);
                self.fail(host, Faults { is_full: true, ..Faults::default() }, length);
            }
            Fault::FailingSyncs { length } => {
                self.fail(self.dac.disk, Faults { fails_syncs: true, ..Faults::default() }, length);
            }
            Fault::Liar { node, claims_run } => {
                if let Some((name, run)) = self.nodes[node].name_and_run() {
                    let index = self.liars.len();
                    self.liars.push(Liar::new(node, name, claims_run.then_some(run)));
                    self.shared.after(0, Event::Liar(index));
                }
            }
        }
        Ok(())
    }

    fn fail(&mut self, host: usize, faults: Faults, length: u64) {
        system::disk(|disk| disk.set_faults(host, faults));
        self.shared.after(length, Event::Repair(host));
    }

    fn arm(&mut self, host: usize, crash: Crash, after: u64) {
        let is_alive = if host == self.dac.disk {
            self.dac.process.is_some()
        } else {
            self.nodes.iter().any(|node| node.disk == host && node.process.is_some())
        };
        if !is_alive {
            return;
        }
        self.armed.insert(host, crash);
        if after == 0 {
            system::disk(|disk| disk.freeze(host));
        } else {
            system::disk(|disk| disk.freeze_after(host, after));
            self.shared.after(ARMED, Event::Crash(host));
        }
    }

    /// Ends the processes of hosts whose disks are frozen.
    fn crash_frozen(&mut self) -> anyhow::Result<()> {
        for host in self.hosts() {
            if !system::disk(|disk| disk.is_frozen(host)) {
                continue;
            }
            let crash = self.armed.remove(&host).unwrap_or(Crash::Kill);
            let (end, now) =
                (if crash == Crash::Kill { End::Killed } else { End::PowerCut }, self.shared.now);
            self.shared.note(format!(
                "host {host}: {crash:?} at change {}",
                system::disk(|disk| disk.changes(host))
            ));
            let node = self.nodes.iter_mut().find(|node| node.disk == host);
            let restart = match node {
                Some(node) => {
                    node.crash(end, &mut self.shared);
                    Event::StartNode(node.index)
                }
                None => {
                    self.dac.crash(end, &mut self.shared);
                    Event::StartDac
                }
            };
            if crash == Crash::PowerCut {
                let node = if let Event::StartNode(node) = restart { Some(node) } else { None };
                let ends = self.shared.network.cut_all(node, now);
                self.shared.deliver(ends);
                let lost = system::disk(|disk| disk.cut_power(host))?;
                self.shared.note(format!("host {host} lost {lost:?}"));
            } else {
                system::disk(|disk| disk.thaw(host));
            }
            let away = self.shared.random.u64(0..AWAY);
            self.shared.after(away, restart);
        }
        Ok(())
    }

    /// Returns the folder of the archive.
    pub fn archive(&self) -> &Path {
        &self.dac.folder
    }
}
