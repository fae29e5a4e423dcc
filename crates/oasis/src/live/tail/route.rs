//! The DACs that a follower may follow, one at a time.

use crate::{
    live::{locate::Located, unknown},
    target::Target,
};
use oasis_client::{Api, Server};
use oasis_site::host_token;
use serde_json::Value;
use std::time::Duration;
use tokio::{
    task::{JoinHandle, spawn_blocking},
    time::{sleep, timeout},
};

/// DACs that are remembered: as many as a TEM lists.
const MAX_KNOWN_DACS: usize = 1_000;
/// Time for a TEM to list its DACs again. Without an answer the list before counts.
const TEM_TIMEOUT: Duration = Duration::from_millis(700);

/// Interval at which the other DACs are asked while the nodes are offline.
const DAC_POLL_INTERVAL: Duration = Duration::from_secs(1);
/// DACs that are asked in a look: a TEM lists the one that has the node first.
const MAX_ASKED_DACS: usize = 16;

/// The DACs, in the order in which they are tried.
#[derive(Debug)]
pub struct Route {
    located: Located,
    targets: Vec<Target>,
    servers: Vec<Server>,
    /// The one that is followed.
    current: usize,
    /// A question to the other ones that is under way.
    looking: Option<JoinHandle<Option<Vec<Server>>>>,
}

impl Route {
    /// Finds the DACs for these instances.
    ///
    /// # Errors
    /// If there is none.
    pub fn new(located: &Located, targets: &[Target]) -> anyhow::Result<Self> {
        let servers = located.alternatives(&targets.iter().collect::<Vec<_>>())?;
        Ok(Self { located: located.clone(), targets: targets.to_vec(), servers, current: 0, looking: None })
    }

    /// Whether there is another DAC than the one that is followed, or a TEM that may list one.
    pub fn has_others(&self) -> bool {
        self.servers.len() > 1 || self.is_by_tem()
    }

    /// Whether a TEM lists the DACs.
    pub fn is_by_tem(&self) -> bool {
        self.located.lists_several()
    }

    /// Asks the TEM again, if there is one.
    pub async fn refresh(&mut self) {
        if !self.is_by_tem() {
            return;
        }
        if let Some(servers) = newer(self.located.clone(), self.targets.clone()).await {
            self.take(servers);
        }
    }

    /// Asks the other DACs after a pause whether one of them has an instance online. May be dropped at any time, and
    /// continues when it is called again.
    pub async fn elsewhere(&mut self) -> bool {
        let looking = match &mut self.looking {
            Some(looking) => looking,
            none => none.insert(tokio::spawn(find_online(
                self.located.clone(),
                self.targets.clone(),
                self.servers.clone(),
                self.servers.get(self.current).cloned(),
            ))),
        };
        let found = looking.await;
        self.looking = None;
        let Ok(Some(servers)) = found else { return false };
        self.take(servers);
        true
    }

    /// The DACs to begin with, in the order in which they were named; of a TEM, the one that has the instances.
    pub fn first_ones(&self) -> Vec<(usize, Server)> {
        let all = self.servers.iter().cloned().enumerate();
        all.take(if self.is_by_tem() { 1 } else { usize::MAX }).collect()
    }

    /// Takes a newer list. A DAC that restarts is in no list for a while: those of the list before come after it, and the one that was lost is
    /// the last.
    fn take(&mut self, newer: Vec<Server>) {
        let lost = self.servers.get(self.current).cloned();
        let is_lost = |server: &Server| lost.as_ref().is_some_and(|lost| lost.url == server.url);
        let mut servers: Vec<Server> = Vec::new();
        for server in newer.into_iter().chain(self.servers.drain(..)) {
            let is_known = servers.iter().any(|known| known.url == server.url);
            if servers.len() < MAX_KNOWN_DACS && !is_known && !is_lost(&server) {
                servers.push(server);
            }
        }
        servers.extend(lost);
        self.current = servers.len().saturating_sub(1);
        self.servers = servers;
    }

    /// The DACs to try, beginning with the one after that which was lost.
    pub fn others_first(&self) -> Vec<(usize, Server)> {
        let count = self.servers.len();
        let numbered = (1..=count).map(|step| (self.current + step) % count);
        numbered.filter_map(|number| Some((number, self.servers.get(number)?.clone()))).collect()
    }

    /// Says more of an error of the DAC that is followed, if it is about an instance that this does not know.
    pub async fn explained(&self, error: anyhow::Error) -> anyhow::Error {
        match self.servers.get(self.current) {
            Some(server) => unknown::explained(error, server).await,
            None => error,
        }
    }

    /// Notes which one is followed now.
    pub fn choose(&mut self, number: usize) {
        self.current = number;
        // The pending search is about another one.
        self.looking = None;
    }
}

/// The DACs that the TEM lists now.
async fn newer(located: Located, targets: Vec<Target>) -> Option<Vec<Server>> {
    let asking = spawn_blocking(move || located.newer_alternatives(&targets.iter().collect::<Vec<_>>()).ok());
    timeout(TEM_TIMEOUT, asking).await.ok()?.ok()?
}

/// Waits a moment, and looks for a DAC that has one of the instances online. Returns it first, before the others.
async fn find_online(
    located: Located,
    targets: Vec<Target>,
    known: Vec<Server>,
    current: Option<Server>,
) -> Option<Vec<Server>> {
    sleep(DAC_POLL_INTERVAL).await;
    let mut servers = match located.lists_several() {
        true => newer(located, targets.clone()).await.unwrap_or(known),
        false => known,
    };
    servers.retain(|server| Some(server) != current.as_ref());
    for at in 0..servers.len().min(MAX_ASKED_DACS) {
        let (server, targets) = (servers.get(at)?.clone(), targets.clone());
        if spawn_blocking(move || has_online(&server, &targets)).await.unwrap_or(false) {
            servers.swap(0, at);
            return Some(servers);
        }
    }
    None
}

/// Whether a DAC has one of these instances online.
fn has_online(server: &Server, targets: &[Target]) -> bool {
    let Ok(api) = Api::prompt(server, TEM_TIMEOUT) else { return false };
    let api = api.with_host_token(Some(host_token::of));
    let is_online = |target: &Target| {
        let names = [("node", &*target.node), ("instance", &*target.instance)];
        let answer = api.get("/instances", if target.is_pattern() { &[] } else { &names });
        let instances = answer.map(|answer| answer["instances"].clone()).unwrap_or_default();
        let fits = |instance: &Value| {
            let name = |field: &str| instance[field].as_str().unwrap_or_default();
            let full = format!("{}/{}", name("node"), name("instance"));
            oasis_wire::pattern::matches(&target.plain(), &full) && instance["state"] == "online"
        };
        instances.as_array().into_iter().flatten().any(fits)
    };
    targets.iter().any(is_online)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn servers(ports: impl IntoIterator<Item = u16>) -> Vec<Server> {
        let server = |port| Server { url: format!("http://127.0.0.1:{port}").parse().unwrap(), ca: None };
        ports.into_iter().map(server).collect()
    }

    fn route() -> Route {
        Route {
            located: Located::default(),
            targets: Vec::new(),
            servers: servers(1..=3),
            current: 0,
            looking: None,
        }
    }

    fn order(route: &Route) -> Vec<u16> {
        route.others_first().iter().map(|(_, server)| server.url.socket().1).collect()
    }

    #[test]
    fn the_dac_that_was_lost_is_tried_last() {
        let mut route = route();
        assert_eq!(order(&route), [2, 3, 1]);
        route.choose(1);
        assert_eq!(order(&route), [3, 1, 2]);
    }

    #[test]
    fn a_dac_that_a_newer_list_lacks_is_tried_after_it() {
        let mut route = route();
        route.take(servers([4, 1, 3]));
        assert_eq!(order(&route), [4, 3, 2, 1]);
        assert!(route.has_others());
    }
}
