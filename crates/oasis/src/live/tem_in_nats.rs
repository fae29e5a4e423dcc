//! A TEM that NATS keeps: each DAC reports there, and lists in its own TEM all that do.

use anyhow::Context;
use oasis_api::{Reporter, Tem};
use oasis_health::Health;
use oasis_nats::{Connection, Members, NatsConfig, NatsError, Target};
use oasis_site::revive::revive;
use oasis_tem::{DacName, HEARTBEAT, Heartbeat};
use serde::{Deserialize, Serialize};
use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

/// Pause before NATS is tried again.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// Name under which the problems of this TEM are listed.
const TEM: &str = "NATS";

/// A value of the bucket.
#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    name: DacName,
    #[serde(flatten)]
    heartbeat: Heartbeat,
}

/// Reports a DAC, and lists the others, until the process ends.
///
/// # Errors
/// If the settings are wrong.
pub fn share(
    config: &NatsConfig,
    name: DacName,
    reporter: Reporter,
    tem: Arc<Tem>,
    health: Health,
) -> anyhow::Result<()> {
    let Some(target) = Target::new(config).context("in the section [nats]")? else { return Ok(()) };
    let shared =
        Arc::new(Shared { target, replicas: config.replicas, name, reporter: Mutex::new(reporter), tem });
    tokio::spawn(revive(health, "TEM in NATS", move || {
        let shared = shared.clone();
        async move { shared.run().await }
    }));
    Ok(())
}

struct Shared {
    target: Target,
    replicas: u64,
    name: DacName,
    /// Locked to make one heartbeat.
    reporter: Mutex<Reporter>,
    tem: Arc<Tem>,
}

impl Shared {
    async fn run(&self) {
        loop {
            if let Err(error) = self.keep().await {
                self.tem.set_problem(
                    TEM,
                    Some(format!("this DAC is not listed as {} in NATS: {error}", self.name)),
                );
            }
            tokio::time::sleep(RETRY_DELAY).await;
        }
    }

    async fn keep(&self) -> Result<(), NatsError> {
        let connection = Connection::open(&self.target, "oasis-tem").await?;
        let members = Members::open(&connection, self.replicas).await?;
        let reporting = async {
            let mut ticks = tokio::time::interval(HEARTBEAT);
            loop {
                ticks.tick().await;
                members.put(self.name.as_str(), self.entry()).await?;
                self.tem.set_problem(TEM, None);
            }
        };
        let listing = async {
            let mut beats = members.watch().await?;
            loop {
                self.list(&beats.next().await?);
            }
        };
        tokio::select! {
            ended = reporting => ended,
            ended = listing => ended,
        }
    }

    /// Encodes the entry with all names: readers of the bucket cannot ask for them.
    fn entry(&self) -> Vec<u8> {
        let mut reporter = self.reporter.lock().unwrap_or_else(PoisonError::into_inner);
        reporter.set_sent(false);
        let entry = Entry { name: self.name.clone(), heartbeat: reporter.heartbeat() };
        // Texts and numbers: JSON cannot fail.
        serde_json::to_vec(&entry).unwrap_or_default()
    }

    fn list(&self, value: &[u8]) {
        let entry: Entry = match serde_json::from_slice(value) {
            Ok(entry) => entry,
            Err(error) => {
                tracing::debug!(%error, "an entry of the TEM in NATS cannot be read");
                return;
            }
        };
        if entry.name == self.name {
            return;
        }
        match self.tem.beat_other(&entry.name, entry.heartbeat) {
            Ok(accepted) => {
                let reporter = self.reporter.lock().unwrap_or_else(PoisonError::into_inner);
                reporter.take_moved(&accepted.moved);
            }
            Err(refusal) => tracing::debug!(%refusal, dac = %entry.name, "a DAC in NATS is not listed"),
        }
    }
}
