//! Schemas and ledgers of an upstream, one at a time over HTTP.

use super::way::UpstreamServer;
use anyhow::Context;
use oasis_client::Api;
use oasis_dac::UpstreamLedger;
use oasis_relay::{Mirror, Need};
use oasis_wire::schema::ProbeType;
use std::{future::pending, time::Duration};
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep_until},
};

/// Pause after each answer: an upstream allows some 100 requests a second.
const FETCH_DELAY: Duration = Duration::from_millis(20);

/// A fetched item.
#[derive(Debug)]
pub enum FetchedItem {
    /// The schema of a hash.
    Schema(String, Box<ProbeType>),
    /// The ledger of a node's instance.
    Ledger(String, String, Box<UpstreamLedger>),
}

/// Fetches what a mirror needs.
pub struct Fetcher {
    way: UpstreamServer,
    /// None while it is used, and until the next fetch after a failure: token and authority are then read again.
    api: Option<Api>,
    fetching: Option<JoinHandle<(Api, anyhow::Result<FetchedItem>)>>,
    /// When the next fetch may begin, while that is in the future.
    pause: Option<Instant>,
}

impl Fetcher {
    /// Creates a fetcher.
    pub fn new(way: UpstreamServer) -> Self {
        Self { way, api: None, fetching: None, pause: None }
    }

    /// Begins to fetch what is needed next, unless something is under way.
    ///
    /// # Errors
    /// If authority or token cannot be read.
    pub fn start_next(&mut self, mirror: &mut Mirror) -> anyhow::Result<()> {
        if self.fetching.is_some() || self.pause.is_some() {
            return Ok(());
        }
        let Some(need) = mirror.take_need() else { return Ok(()) };
        let api = self.api.take().map_or_else(|| self.way.api(), Ok)?;
        self.fetching = Some(tokio::task::spawn_blocking(move || {
            let fetched = fetch(&api, need);
            (api, fetched)
        }));
        Ok(())
    }

    /// Waits for what is under way, or for the end of the pause after it; forever if there is neither. May be cancelled at any time.
    ///
    /// # Errors
    /// If it does not come.
    pub async fn next(&mut self) -> anyhow::Result<Option<FetchedItem>> {
        if let Some(until) = self.pause {
            sleep_until(until).await;
            self.pause = None;
            return Ok(None);
        }
        let Some(fetching) = &mut self.fetching else { return pending().await };
        let done = fetching.await;
        (self.fetching, self.pause) = (None, Some(Instant::now() + FETCH_DELAY));
        let (api, fetched) = done?;
        self.api = Some(api);
        fetched.map(Some)
    }
}

fn fetch(api: &Api, need: Need) -> anyhow::Result<FetchedItem> {
    match need {
        Need::Schema(hash) => {
            let answer = api.get(&format!("/schemas/{hash}"), &[]).context("a schema of the upstream")?;
            Ok(FetchedItem::Schema(hash, serde_json::from_value(answer)?))
        }
        Need::Ledger { node, instance } => {
            let query = [("node", node.as_str()), ("instance", instance.as_str())];
            let mut answer = api.get("/ledger", &query).context("a ledger of the upstream")?;
            let ledger = serde_json::from_value(answer["instances"][0]["ledger"].take())
                .with_context(|| format!("the ledger of {node}/{instance} at the upstream"))?;
            Ok(FetchedItem::Ledger(node, instance, ledger))
        }
    }
}
