//! The source while it runs: connections to the broker, and its messages as samples.

use crate::{
    MqttConfig,
    config::{BadConfig, Checked, Subscription},
    packet::Login,
    receiver::Receiver,
    secret::{BadSecret, password},
    session::{Event, KEEP_ALIVE_SECONDS, Session, SessionError},
    state::SourceState,
    stream::BrokerStream,
};
use oasis_handler::{Acknowledge, Context, Failure, Handler};
use oasis_source_node::stored;
use oasis_tls::{ClientFiles, TlsError};
use rustls::ClientConfig;
use serde_json::Value;
use std::{
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};
use tokio::runtime::Runtime;

/// Pause before the second attempt to connect; each further one doubles it.
const MIN_RECONNECT_DELAY: Duration = Duration::from_secs(1);
/// Longest pause between two attempts.
const MAX_RECONNECT_DELAY: Duration = Duration::from_secs(30);
/// Bytes of a read.
const READ_CHUNK_BYTES: usize = 64 * 1024;

/// Subscribes to topics of a broker.
#[derive(Debug)]
pub struct MqttSource {
    config: MqttConfig,
    checked: Checked,
    state: Mutex<SourceState>,
}

/// Why a connection ends.
#[derive(Debug, thiserror::Error)]
enum LinkError {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error(transparent)]
    Secret(#[from] BadSecret),
    #[error(transparent)]
    Tls(#[from] TlsError),
    #[error("messages are received but not stored: {0}")]
    Store(String),
}

/// The parts that all connections share.
struct Run<'a> {
    context: &'a Context,
    receiver: Receiver,
    session: Session,
    runtime: Runtime,
}

impl Handler for MqttSource {
    fn name(&self) -> &'static str {
        "mqtt"
    }

    fn run(&self, context: Context) -> Result<(), Failure> {
        let failed = |error: io::Error| Failure(format!("cannot start the timer: {error}"));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().map_err(failed)?;
        let receiver = Receiver::new(&self.config, context.dac.clone());
        let receiver = receiver.map_err(|error: BadConfig| Failure(error.to_string()))?;
        let session = Session::new(self.config.version, Instant::now());
        let mut run = Run { context: &context, receiver, session, runtime };
        let mut delay = MIN_RECONNECT_DELAY;
        while !context.stopping.is_stopping() {
            let ended = self.receive(&mut run);
            if self.end_connection() {
                delay = MIN_RECONNECT_DELAY;
            }
            let Err(error) = ended else { break };
            let (broker, error) = (self.checked.address.to_string(), error.to_string());
            tracing::warn!(broker, error, "no connection to the MQTT broker");
            self.lock().newest_failure = Some(error);
            if context.stopping.wait_for(delay) {
                break;
            }
            delay = (delay * 2).min(MAX_RECONNECT_DELAY);
        }
        Ok(())
    }

    fn state(&self) -> Value {
        self.lock().json(&self.checked.address.to_string())
    }

    fn problem(&self) -> Option<String> {
        self.lock().problem(&self.checked.address.to_string())
    }

    fn warnings(&self) -> Vec<String> {
        self.lock().warnings()
    }
}

impl MqttSource {
    /// Creates a source that does not run yet.
    pub(crate) fn new(config: MqttConfig, checked: Checked) -> Self {
        Self { config, checked, state: Mutex::default() }
    }

    /// Notes that there is no connection. Returns whether the broker had accepted it.
    fn end_connection(&self) -> bool {
        let mut state = self.lock();
        state.is_subscribed = false;
        std::mem::take(&mut state.is_connected)
    }

    /// Receives the messages of one connection.
    fn receive(&self, run: &mut Run<'_>) -> Result<(), LinkError> {
        let tls = if self.checked.address.is_encrypted { Some(self.tls()?) } else { None };
        let password = if self.config.user.is_empty() { None } else { password(&self.config.password_file)? };
        let mut stream = BrokerStream::connect(&self.checked.address, tls)?;
        let login = Login {
            client_id: &self.config.client_id,
            user: Some(&*self.config.user).filter(|user| !user.is_empty()),
            password: password.as_deref(),
            keep_alive: KEEP_ALIVE_SECONDS,
        };
        run.session.begin(&login, Instant::now());
        let mut chunk = vec![0; READ_CHUNK_BYTES];
        loop {
            stream.write(&run.session.take_output())?;
            if run.context.stopping.is_stopping() {
                run.session.end();
                return Ok(stream.write(&run.session.take_output())?);
            }
            let read = stream.read(&mut chunk)?;
            run.session.push(chunk.get(..read).unwrap_or_default());
            let handled = self.handle(run);
            // Messages before a damaged packet are samples too.
            run.receiver.flush();
            self.lock().receiver.clone_from(run.receiver.counters());
            handled?;
            for request in run.receiver.take_requests() {
                run.session.publish(&request.topic, &request.payload);
            }
            if run.session.has_pending() {
                self.store(run)?;
                run.session.acknowledge();
            }
            run.session.poll(Instant::now())?;
        }
    }

    /// Handles all packets that have arrived.
    fn handle(&self, run: &mut Run<'_>) -> Result<(), SessionError> {
        let subscriptions = &self.checked.subscriptions;
        while let Some(event) = run.session.take_next(subscriptions)? {
            let mut state = self.lock();
            match event {
                Event::Handled => {}
                Event::Connected { session_present, is_lost, has_subscriptions } => {
                    (state.is_connected, state.is_subscribed) = (true, has_subscriptions);
                    state.connections += 1;
                    state.lost_sessions += u64::from(is_lost);
                    state.newest_failure = None;
                    drop(state);
                    let broker = self.checked.address.to_string();
                    tracing::info!(broker, session_present, "connected to the MQTT broker");
                }
                Event::Subscribed { refused, unacknowledged } => {
                    state.is_subscribed = true;
                    state.refused_topics = topics(subscriptions, &refused);
                    state.unacknowledged_topics = topics(subscriptions, &unacknowledged);
                }
                Event::Message { publish, is_known } => {
                    state.messages += 1;
                    state.repeated_messages += u64::from(is_known);
                    drop(state);
                    if !is_known {
                        run.receiver.receive(publish.topic, publish.payload, publish.is_retained);
                    }
                }
                Event::TooLong => {
                    state.messages += 1;
                    drop(state);
                    run.receiver.refuse("", "a message has more than 1 MiB: send less at a time");
                }
            }
        }
        Ok(())
    }

    /// Waits until the archive has stored the samples so far.
    fn store(&self, run: &Run<'_>) -> Result<(), LinkError> {
        match &run.context.archive {
            Some(archive) if self.config.acknowledge == Acknowledge::Stored => {
                run.runtime.block_on(stored(&**archive)).map_err(LinkError::Store)
            }
            _ => Ok(()),
        }
    }

    fn tls(&self) -> Result<Arc<ClientConfig>, TlsError> {
        let path = |file: &str| Some(file).filter(|file| !file.is_empty()).map(Into::into);
        let MqttConfig { ca_file, certificate, key, .. } = &self.config;
        ClientFiles { ca: path(ca_file), certificate: path(certificate), key: path(key) }.load()
    }

    fn lock(&self) -> MutexGuard<'_, SourceState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The topics of some subscriptions.
fn topics(subscriptions: &[Subscription], numbers: &[usize]) -> Vec<String> {
    let topic = |at: &usize| subscriptions.get(*at).map(|one| one.filter.as_str().to_owned());
    numbers.iter().filter_map(topic).collect()
}
