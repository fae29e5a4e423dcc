//! The DACs that a follower may follow, one at a time.

use crate::{
    live::{dac_address::Server, locate::Located},
    target::Target,
};
use std::time::Duration;
use tokio::{task::spawn_blocking, time::timeout};

/// Time for a TEM to list its DACs again. Without an answer the list before goes on.
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

    /// Whether there is another DAC than the one that is followed.
    pub fn has_others(&self) -> bool {
        self.servers.len() > 1
    }

    /// Asks the TEM again, if there is one.
    pub async fn refresh(&mut self) {
        if !self.located.is_by_tem() {
            return;
        }
        let (located, targets) = (self.located.clone(), self.targets.clone());
        let asking = spawn_blocking(move || located.alternatives(&targets.iter().collect::<Vec<_>>()).ok());
        let Ok(Ok(Some(servers))) = timeout(ASK, asking).await else { return };
        let lost = self.servers.get(self.current).map(|server| server.url.clone());
        // One that has just been lost is tried last.
        self.current =
            servers.iter().position(|server| Some(&server.url) == lost.as_ref()).unwrap_or_default();
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

    #[test]
    fn the_dac_that_was_lost_is_tried_last() {
        let server =
            |port: u16| Server { url: format!("http://127.0.0.1:{port}").parse().unwrap(), ca: None };
        let servers = (1..=3).map(server).collect();
        let mut route = Route { located: Located::default(), targets: Vec::new(), servers, current: 0 };
        let order =
            |route: &Route| route.others_first().iter().map(|(number, _)| *number).collect::<Vec<_>>();
        assert_eq!(order(&route), [1, 2, 0]);
        route.choose(1);
        assert_eq!(order(&route), [2, 0, 1]);
    }
}
