//! The runner's end: waits for hosts, sends orders, and reads reports.

use super::{
    super::{
        interrupt::Interrupt,
        live::{LoadOrders, Recorder},
    },
    HOST, ORDERS, REPORTS, RING, RUNNER, node_of,
    stream::follow,
};
use crate::dac_http;
use anyhow::{Context, ensure};
use oasis_probe::{Node, NodeBuilder, NodeConfig, PushedProbe, TcpConnector};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, PoisonError},
    thread,
    time::Duration,
};

/// Interval between two checks of the hosts that are there.
const HOST_POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Hosts that wait for orders.
#[derive(Debug)]
pub struct Hosts {
    dac: String,
    names: Vec<String>,
    sent: Mutex<Sent>,
    _node: Node,
}

#[derive(Debug)]
struct Sent {
    probe: PushedProbe<LoadOrders>,
    cells: u64,
    tasks: u64,
}

impl Hosts {
    /// Prints how hosts are started, and waits until `count` of them are there.
    pub fn wait(recorder: &Recorder, count: usize, interrupt: &Interrupt) -> anyhow::Result<Self> {
        let (dac, channel) = (recorder.page()?.to_owned(), recorder.channel()?);
        let mut builder = NodeBuilder::new(RUNNER, NodeConfig::default());
        let probe = builder.pushed(ORDERS, RING)?;
        let node = builder.start(TcpConnector::new(channel))?;
        eprintln!(
            "on each of {count} hosts, with a name of its own: oasis-lab host {dac} {channel} --name NAME"
        );
        loop {
            interrupt.check()?;
            let names = present(&dac)?;
            if names.len() >= count && is_there(&dac, RUNNER, ORDERS)? {
                eprintln!("hosts of the load: {}", names.join(", "));
                let sent = Mutex::new(Sent { probe, cells: 0, tasks: 0 });
                return Ok(Self { dac, names, sent, _node: node });
            }
            thread::sleep(HOST_POLL_INTERVAL);
        }
    }

    /// Number of hosts.
    pub fn count(&self) -> usize {
        self.names.len()
    }

    /// Starts a process for each of these orders, on one host after the other. Each line that they print goes to the function, until it returns false.
    pub fn start(
        &self,
        verb: &str,
        orders: &[String],
        each: impl FnMut(&str) -> bool + Clone + Send + 'static,
    ) -> anyhow::Result<()> {
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        sent.cells += 1;
        let mut tasks: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
        for (orders, host) in orders.iter().zip(self.names.iter().cycle()) {
            sent.tasks += 1;
            let (cell, task) = (sent.cells, sent.tasks);
            tasks.entry(host).or_default().insert(task);
            let sample =
                LoadOrders { host: host.clone(), cell, task, verb: verb.into(), orders: orders.clone() };
            ensure!(sent.probe.flush(&sample), "orders are too large");
        }
        for (host, tasks) in tasks {
            let (dac, node, mut each) = (self.dac.clone(), node_of(host), each.clone());
            thread::spawn(move || {
                // The runner notices the end of reports by itself.
                let _ = follow(&dac, &node, REPORTS, |report| {
                    let is_of_cell = report["task"].as_u64().is_some_and(|task| tasks.contains(&task));
                    !is_of_cell || report["line"].as_str().is_none_or(&mut each)
                });
            });
        }
        Ok(())
    }
}

/// Names of hosts whose nodes are online.
fn present(dac: &str) -> anyhow::Result<Vec<String>> {
    let online = instances(dac)?;
    let hosts = online.iter().filter(|(_, instance)| instance == REPORTS);
    Ok(hosts.filter_map(|(node, _)| node.strip_prefix(HOST).map(str::to_owned)).collect())
}

fn is_there(dac: &str, node: &str, instance: &str) -> anyhow::Result<bool> {
    Ok(instances(dac)?.contains(&(node.to_owned(), instance.to_owned())))
}

/// Nodes and instances that are online.
fn instances(dac: &str) -> anyhow::Result<BTreeSet<(String, String)>> {
    let answer = dac_http::get(dac, "/api/v1/instances")?;
    let list = answer["instances"].as_array().context("an answer without instances")?;
    let online = list.iter().filter(|known| known["state"] == "online");
    let named = |known: &serde_json::Value| {
        Some((known["node"].as_str()?.to_owned(), known["instance"].as_str()?.to_owned()))
    };
    Ok(online.filter_map(named).collect())
}
