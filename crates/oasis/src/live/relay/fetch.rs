//! Schemas and ledgers of an upstream, one at a time over HTTP.

use crate::live::api::Api;
use anyhow::Context;
use oasis_dac::UpstreamLedger;
use oasis_relay::{Mirror, Need};
use oasis_wire::schema::ProbeType;
use std::{future::pending, time::Duration};
use tokio::task::JoinHandle;

/// Pause after each answer: an upstream allows some 100 requests a second.
const PAUSE: Duration = Duration::from_millis(20);

/// What has come.
#[derive(Debug)]
pub enum Fetched {
    /// The schema of a hash.
    Schema(String, Box<ProbeType>),
    /// The ledger of a node's instance.
    Ledger(String, String, Box<UpstreamLedger>),
    /// It did not come.
    Failed(String),
}

/// Fetches what a mirror needs.
pub struct Fetcher {
    /// None while it is used.
    api: Option<Api>,
    fetching: Option<JoinHandle<(Api, Fetched)>>,
}

impl Fetcher {
    /// Creates a fetcher.
    pub fn new(api: Api) -> Self {
        Self { api: Some(api), fetching: None }
    }

    /// Begins to fetch what is needed next, unless something is under way.
    pub fn look(&mut self, mirror: &mut Mirror) {
        let Some(need) = self.api.is_some().then(|| mirror.take_need()).flatten() else { return };
        let Some(api) = self.api.take() else { return };
        self.fetching = Some(tokio::task::spawn_blocking(move || {
            let fetched = fetch(&api, need);
            std::thread::sleep(PAUSE);
            (api, fetched.unwrap_or_else(|error| Fetched::Failed(format!("{error:#}"))))
        }));
    }

    /// Waits for what is under way; forever if nothing is.
    pub async fn next(&mut self) -> Fetched {
        let Some(fetching) = &mut self.fetching else { return pending().await };
        let done = fetching.await;
        self.fetching = None;
        match done {
            Ok((api, fetched)) => {
                self.api = Some(api);
                fetched
            }
            Err(error) => Fetched::Failed(error.to_string()),
        }
    }
}

fn fetch(api: &Api, need: Need) -> anyhow::Result<Fetched> {
    match need {
        Need::Schema(hash) => {
            let answer = api.get(&format!("/schemas/{hash}"), &[]).context("a schema of the upstream")?;
            Ok(Fetched::Schema(hash, serde_json::from_value(answer)?))
        }
        Need::Ledger { node, instance } => {
            let query = [("node", node.as_str()), ("instance", instance.as_str())];
            let mut answer = api.get("/ledger", &query).context("a ledger of the upstream")?;
            let ledger = serde_json::from_value(answer["instances"][0]["ledger"].take())
                .with_context(|| format!("the ledger of {node}/{instance} at the upstream"))?;
            Ok(Fetched::Ledger(node, instance, ledger))
        }
    }
}
