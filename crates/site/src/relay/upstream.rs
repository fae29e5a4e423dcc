//! Keeps one upstream connected.

use super::{Relay, alarms::AlarmLink, connection::Connection};
use crate::revive::revive;
use oasis_alarms::RelayedAlarms;
use oasis_channel::Backoff;
use oasis_client::Server;
use oasis_dac::{Dac, Upstream as Handle, UpstreamEvents};
use oasis_relay::{Change, Interest, Mirror, ResumePoints};
use oasis_wire::quantity::TopicId;
use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::task::JoinHandle;

/// A reason is logged again after a connection of this time.
const LASTING_CONNECTION_TIME: Duration = Duration::from_secs(10);

/// One DAC whose nodes this one relays.
#[derive(Debug, Clone)]
pub struct Upstream {
    dac: Arc<Dac>,
    name: String,
    server: Server,
    token_file: Option<PathBuf>,
    places: ResumePoints,
    alarms: Arc<RelayedAlarms>,
}

/// The state of an upstream that outlives its connections.
pub struct UpstreamState {
    /// Its registry.
    pub mirror: Mirror,
    /// The wishes of readers here.
    pub interest: Interest,
    /// Positions at which subscriptions continue.
    pub places: ResumePoints,
    /// Commands, and what readers want anew.
    pub events: UpstreamEvents,
    /// Its alarms.
    pub alarms: AlarmLink,
    /// Zero of the clock of `interest`.
    began: Instant,
}

impl Upstream {
    /// Describes an upstream of this name.
    pub fn new(relay: &Relay, name: String, server: Server) -> Self {
        let Relay { dac, token_file, places, alarms } = relay.clone();
        Self { dac, name, server, token_file, places, alarms }
    }

    /// Connects to it, again and again.
    pub fn start(self) -> JoinHandle<()> {
        let health = self.dac.health.clone();
        tokio::spawn(async move {
            let task = format!("relay of {}", self.name);
            revive(health, &task, || self.clone().run()).await;
        })
    }

    async fn run(self) {
        let (upstream, events) = Handle::new(&self.dac);
        let mirror = Mirror::new(upstream, self.name.clone());
        let (interest, places) = (Interest::default(), self.places.clone());
        let mut alarms = AlarmLink::start(&self.alarms, &self.dac, &self.name);
        while let Err(error) = &alarms {
            tracing::error!(%error, "no thread for the alarms of {}; trying again", self.name);
            tokio::time::sleep(Duration::from_secs(1)).await;
            alarms = AlarmLink::start(&self.alarms, &self.dac, &self.name);
        }
        let Ok(alarms) = alarms else { return };
        let mut kept = UpstreamState { mirror, interest, places, events, alarms, began: Instant::now() };
        let (mut backoff, mut said, warned) = (Backoff::default(), None, AtomicBool::new(false));
        loop {
            let attempt = Instant::now();
            let ended = self.converse(&mut kept, &warned).await;
            if attempt.elapsed() > LASTING_CONNECTION_TIME {
                said = None;
            }
            kept.mirror.lost();
            let pause = backoff.after(attempt.elapsed());
            let reason = format!("{} is not relayed: {:#}", self.name, ended);
            if said.as_ref() != Some(&reason) {
                tracing::warn!(upstream = %self.server.url, "{reason}; trying again");
                warned.store(true, Ordering::Relaxed);
            }
            self.dac.upstreams.set_problem(&self.name, Some(reason.clone()));
            said = Some(reason);
            kept.rest(pause).await;
        }
    }

    /// Returns why a connection ended, or could not begin. Takes back what was `warned` of as soon as the registry is known.
    async fn converse(&self, kept: &mut UpstreamState, warned: &AtomicBool) -> anyhow::Error {
        let note = |problem| {
            if warned.swap(false, Ordering::Relaxed) {
                tracing::warn!(upstream = %self.server.url, "{} is relayed again", self.name);
            }
            self.dac.upstreams.set_relayed(&self.name, problem);
        };
        match Connection::open(&self.server, self.token_file.as_deref(), kept).await {
            Ok(connection) => {
                tracing::debug!(upstream = %self.server.url, name = %self.name, "connected");
                let _alarms = connection.read_alarms(kept, &self.name);
                connection.run(kept, note).await
            }
            Err(error) => error,
        }
    }
}

impl UpstreamState {
    /// Waits. Commands fail at once meanwhile, and what readers want is noted.
    async fn rest(&mut self, pause: Duration) {
        let until = tokio::time::Instant::now() + pause;
        loop {
            tokio::select! {
                () = tokio::time::sleep_until(until) => return,
                // Dropping it says that the node is offline.
                Some(_) = self.events.commands.recv() => {}
                Some(_) = self.events.questions.recv() => {}
                Some(_) = self.alarms.questions.recv() => {}
                Some(topic) = self.events.wanted.recv() => drop(self.note(topic)),
            }
        }
    }

    /// Notes what the readers of a topic want. Returns what to change.
    pub fn note(&mut self, topic: TopicId) -> Option<Change> {
        let (_, wanted) = self.mirror.upstream().wanted(topic)?;
        self.interest.wants(topic, wanted, self.began.elapsed())
    }

    /// Returns the next subscription that has no reader any more.
    pub fn expired(&mut self) -> Option<Change> {
        self.interest.expired(self.began.elapsed())
    }
}
