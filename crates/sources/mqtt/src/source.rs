//! The source while it runs: connections to the broker, and its messages as samples.

use crate::{
    MqttConfig,
    config::{BadConfig, Checked, Subscription},
    delivery_journal::Delivery,
    receiver::Receiver,
    state::SourceState,
};
use oasis_handler::{Acknowledge, Context, Failure, Handler, StateMetrics};
use oasis_mqtt_client::{
    ConnectError, Event, OutgoingMessage, READ_CHUNK_BYTES, ReconnectDelay, Session, SessionError,
    SessionOptions, TopicRequest,
};
use oasis_source_node::stored;
use serde_json::Value;
use std::{
    io,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Instant,
};
use tokio::runtime::Runtime;

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
    Connect(#[from] ConnectError),
    #[error(transparent)]
    Session(#[from] SessionError),
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
        let session = Session::new(self.session_options(), Instant::now());
        let mut run = Run { context: &context, receiver, session, runtime };
        let mut delay = ReconnectDelay::default();
        while !context.stopping.is_stopping() {
            let ended = self.receive(&mut run);
            let was_accepted = self.end_connection();
            let Err(error) = ended else { break };
            let (broker, error) = (self.checked.address.to_string(), error.to_string());
            tracing::warn!(broker, error, "no connection to the MQTT broker");
            self.lock().newest_failure = Some(error);
            if context.stopping.wait_for(delay.after(was_accepted)) {
                break;
            }
        }
        Ok(())
    }

    fn state(&self) -> Value {
        self.lock().json(&self.checked.address.to_string())
    }

    fn metrics(&self) -> StateMetrics {
        StateMetrics {
            counters: &[
                "connections",
                "lost_sessions",
                "messages",
                "samples",
                "lost_samples",
                "refused_messages",
                "retained_messages",
                "repeated_messages",
                "missing_messages",
                "requested_births",
                "left_out_values",
                "rounded_values",
            ],
            gauges: &["nodes", "series"],
        }
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
        let broker = self.config.broker();
        let mut stream = broker.connect(&self.checked.address, &mut run.session, None)?;
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
                let message = OutgoingMessage {
                    topic: &request.topic,
                    payload: &request.payload,
                    is_acknowledged: false,
                    is_retained: false,
                    correlation: None,
                };
                run.session.publish(&message, Instant::now());
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
        while let Some(event) = run.session.take_next()? {
            let mut state = self.lock();
            match event {
                Event::Handled | Event::Published { .. } => {}
                Event::Connected { session_present, is_lost, has_subscriptions } => {
                    (state.is_connected, state.is_subscribed) = (true, has_subscriptions);
                    state.connections += 1;
                    state.lost_sessions += u64::from(is_lost);
                    state.newest_failure = None;
                    drop(state);
                    let broker = self.checked.address.to_string();
                    run.receiver.begin_connection(session_present);
                    tracing::info!(broker, session_present, "connected to the MQTT broker");
                }
                Event::Subscribed { refused, unacknowledged } => {
                    state.is_subscribed = true;
                    state.refused_topics = topics(subscriptions, &refused);
                    state.unacknowledged_topics = topics(subscriptions, &unacknowledged);
                }
                Event::Confirmed => {
                    drop(state);
                    run.receiver.confirm();
                }
                Event::Message { publish, digest, is_known } => {
                    state.messages += 1;
                    state.repeated_messages += u64::from(is_known);
                    drop(state);
                    if !is_known {
                        let delivery = publish.id.zip(digest).map(|(id, digest)| Delivery {
                            id,
                            digest,
                            is_repeated: publish.is_repeated,
                        });
                        run.receiver.receive(publish.topic, publish.payload, publish.is_retained, delivery);
                    }
                }
                Event::TooLong(topic) => {
                    state.messages += 1;
                    drop(state);
                    run.receiver.refuse(topic, "the message has more than 1 MiB: send less at a time");
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

    fn session_options(&self) -> SessionOptions {
        let request = |one: &Subscription| TopicRequest {
            filter: one.filter.as_str().to_owned(),
            takes_retained: one.takes_retained,
        };
        let subscriptions = self.checked.subscriptions.iter().map(request).collect();
        SessionOptions { version: self.config.version, is_clean: false, subscriptions }
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
