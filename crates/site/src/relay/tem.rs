//! Relays every DAC that a TEM lists, but no relay: its nodes are those of other DACs.

use super::{Relay, upstream::Upstream};
use crate::{host_token, revive::revive};
use oasis_client::{Server, TemList, Tems};
use oasis_tem::{DacView, Kind};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};
use tokio::{
    task::JoinHandle,
    time::{MissedTickBehavior, interval},
};

/// Interval at which the TEM is asked.
const TEM_POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Name of the TEM among the upstreams: no DAC has a space in its name.
const TEM: &str = "the TEM";

/// An upstream that is kept connected.
struct Running {
    server: Server,
    task: JoinHandle<()>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Asks the TEMs again and again, each if those before do not answer. The last answer counts while none does.
pub fn start(relay: Relay, tems: Vec<Server>) {
    let health = relay.dac.health.clone();
    tokio::spawn(async move {
        revive(health, "relay by TEM", || follow(relay.clone(), tems.clone())).await;
    });
}

async fn follow(relay: Relay, tems: Vec<Server>) {
    let mut site = Site { relay, running: BTreeMap::new(), failed: BTreeSet::new() };
    let mut problem = None;
    let tems = Tems::from(tems).with_host_token(host_token::of);
    let mut ticks = interval(TEM_POLL_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let mut asked = tems.clone();
        let list = tokio::task::spawn_blocking(move || asked.fetch_list(None)).await;
        let now = match list.map_err(anyhow::Error::from).and_then(|list| Ok(list?)) {
            Ok(list) => site.update(&list),
            Err(error) => Some(format!("{error:#}")),
        };
        if now != problem {
            now.iter().for_each(|reason| tracing::warn!("{reason}; trying again"));
            site.relay.dac.upstreams.set_problem(TEM, now.clone());
            problem = now;
        }
    }
}

/// The DACs of a TEM.
struct Site {
    relay: Relay,
    running: BTreeMap<String, Running>,
    /// Names of DACs that cannot be reached from here.
    failed: BTreeSet<String>,
}

impl Site {
    /// Relays the DACs of a list, and no others. Returns what is wrong with the list.
    fn update(&mut self, list: &TemList) -> Option<String> {
        let dac = self.relay.dac.clone();
        let is_relayed = |other: &&DacView| other.kind == Kind::Dac && other.epoch != dac.epoch();
        let others = list.dacs().iter().filter(is_relayed);
        let mut wanted: BTreeMap<String, Server> = BTreeMap::new();
        let mut failed = BTreeSet::new();
        for other in others {
            match list.server(other) {
                Ok(server) => drop(wanted.insert(other.name.to_string(), server)),
                Err(error) => {
                    dac.upstreams.set_problem(other.name.as_str(), Some(format!("{error:#}")));
                    failed.insert(other.name.to_string());
                }
            }
        }
        let before = std::mem::replace(&mut self.failed, failed);
        before.difference(&self.failed).for_each(|name| dac.upstreams.set_problem(name, None));
        // A DAC that came back elsewhere is connected there.
        self.running.retain(|name, known| {
            let stays = wanted.get(name).is_some_and(|server| server.url == known.server.url);
            if !stays && !self.failed.contains(name) {
                dac.upstreams.set_problem(name, None);
            }
            stays
        });
        let is_empty = wanted.is_empty() && self.failed.is_empty();
        for (name, server) in wanted {
            let relay = &self.relay;
            self.running.entry(name.clone()).or_insert_with(|| {
                let upstream = Upstream::new(relay, name, server.clone());
                Running { server, task: upstream.start() }
            });
        }
        is_empty.then(|| "the TEM lists no DAC: start one with --tem".to_owned())
    }
}
