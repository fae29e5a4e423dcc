//! The DACs that a follower may follow, one at a time.

use crate::{live::locate::Located, target::Target};
use oasis_client::Server;
use std::time::Duration;
use tokio::{task::spawn_blocking, time::timeout};

/// DACs that are remembered: as many as a TEM lists.
const MOST: usize = 1_000;
/// Time for a TEM to list its DACs again. Without an answer the list before counts.
const ASK: Duration = Duration::from_millis(700);

/// The DACs, in the order in which they are tried.
#[derive(Debug)]
pub struct Route {
    located: Located,
    targets: Vec<Target>,
    servers: Vec<Server>,
    /// The one that is followed.
    current: usize,
}

impl Route {
    /// Finds the DACs for these instances.
    ///
    /// # Errors
    /// If there is none.
    pub fn new(located: &Located, targets: &[Target]) -> anyhow::Result<Self> {
        let servers = located.alternatives(&targets.iter().collect::<Vec<_>>())?;
        Ok(Self { located: located.clone(), targets: targets.to_vec(), servers, current: 0 })
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
        let (located, targets) = (self.located.clone(), self.targets.clone());
        let asking =
            spawn_blocking(move || located.newer_alternatives(&targets.iter().collect::<Vec<_>>()).ok());
        let Ok(Ok(Some(servers))) = timeout(ASK, asking).await else { return };
        self.take(servers);
    }

    /// Takes a newer list. A DAC that restarts is in no list for a while: those of the list before come after it, and the one that was lost is
    /// the last.
    fn take(&mut self, newer: Vec<Server>) {
        let lost = self.servers.get(self.current).cloned();
        let is_lost = |server: &Server| lost.as_ref().is_some_and(|lost| lost.url == server.url);
        let mut servers: Vec<Server> = Vec::new();
        for server in newer.into_iter().chain(self.servers.drain(..)) {
            let is_known = servers.iter().any(|known| known.url == server.url);
            if servers.len() < MOST && !is_known && !is_lost(&server) {
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

    /// Notes which one is followed now.
    pub fn choose(&mut self, number: usize) {
        self.current = number;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn servers(ports: impl IntoIterator<Item = u16>) -> Vec<Server> {
        let server = |port| Server { url: format!("http://127.0.0.1:{port}").parse().unwrap(), ca: None };
        ports.into_iter().map(server).collect()
    }

    fn route() -> Route {
        Route { located: Located::default(), targets: Vec::new(), servers: servers(1..=3), current: 0 }
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
