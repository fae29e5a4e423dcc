//! Relays every DAC that a TEM lists.

use super::{Relay, upstream::Upstream};
use crate::live::{dac_address::Server, revive::revive, tem_list::TemList};
use std::{collections::BTreeMap, time::Duration};
use tokio::task::JoinHandle;

/// How often the TEM is asked.
const ASK: Duration = Duration::from_secs(1);

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

/// Asks the TEM again and again. What it said last goes on while it does not answer.
pub fn start(relay: Relay, tem: Server) {
    let health = relay.dac.health.clone();
    tokio::spawn(async move {
        revive(health, "relay by TEM", || follow(relay.clone(), tem.clone())).await;
    });
}

async fn follow(relay: Relay, tem: Server) {
    let mut running: BTreeMap<String, Running> = BTreeMap::new();
    let mut problem = None;
    loop {
        let asked = tem.clone();
        let list = tokio::task::spawn_blocking(move || TemList::fetch(&asked)).await;
        let now = match list.map_err(anyhow::Error::from).and_then(|list| list) {
            Ok(list) => {
                update(&relay, &list, &mut running);
                None
            }
            Err(error) => Some(format!("the TEM at {}: {error:#}", tem.url)),
        };
        if now != problem {
            now.iter().for_each(|reason| tracing::warn!("{reason}; trying again"));
            relay.dac.upstreams.set_problem("TEM", now.clone());
            problem = now;
        }
        tokio::time::sleep(ASK).await;
    }
}

fn update(relay: &Relay, list: &TemList, running: &mut BTreeMap<String, Running>) {
    let dac = &relay.dac;
    let others = list.dacs().iter().filter(|other| other.epoch != dac.epoch());
    let mut wanted: BTreeMap<String, Server> = BTreeMap::new();
    for other in others {
        match list.server(other) {
            Ok(server) => drop(wanted.insert(other.name.to_string(), server)),
            Err(error) => dac.upstreams.set_problem(other.name.as_str(), Some(format!("{error:#}"))),
        }
    }
    // A DAC that came back elsewhere is connected there.
    running.retain(|name, known| {
        let stays = wanted.get(name).is_some_and(|server| server.url == known.server.url);
        if !stays {
            dac.upstreams.set_problem(name, None);
        }
        stays
    });
    for (name, server) in wanted {
        running.entry(name.clone()).or_insert_with(|| {
            let upstream = Upstream::new(relay, name, server.clone());
            Running { server, task: upstream.start() }
        });
    }
}
