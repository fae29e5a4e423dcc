//! The handler while it runs: connections to the broker, and what passes through them.

use crate::{
    MqttPublishConfig,
    commands::{CommandMessage, ParsedCommand, ReplyAddress, answer, wants_births, writes},
    config::Checked,
    feed::Archive,
    outlet::Outlet,
    positions::Positions,
    publisher_state::{PublisherState, SharedPublisherState},
    sparkplug::control_aliases,
    topics::Following,
    wake_socket::WakeSocket,
};
use oasis_dac::{NamedRequest, Wake};
use oasis_handler::{CommandRefusal, Context, Failure, Handler, StateMetrics, TokenCommand};
use oasis_mqtt_client::{
    ConnectError, Event, READ_CHUNK_BYTES, ReconnectDelay, Session, SessionError, SessionOptions,
    TopicRequest, secret_of_file,
};
use serde_json::Value;
use std::{
    io, mem,
    net::SocketAddr,
    sync::{
        Arc, MutexGuard,
        mpsc::{self, Receiver, Sender},
    },
    time::{Duration, Instant},
};
use tokio::runtime::Runtime;

/// Longest wait for the broker and for samples.
const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// Interval at which the registry is compared, and positions are written.
const UPDATE_INTERVAL: Duration = Duration::from_secs(1);
/// Longest time that the last messages take at shutdown.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);
/// Least time between two births of the edge node that hosts ask for.
const REBIRTH_INTERVAL: Duration = Duration::from_secs(1);
/// Most commands that have no outcome yet. Further ones are refused.
const MAX_PENDING_COMMANDS: usize = 16;
/// Most commands that are taken from one read of the connection.
const MAX_READ_COMMANDS: usize = 64;

/// Publishes samples to a broker.
#[derive(Debug)]
pub struct MqttPublisher {
    config: MqttPublishConfig,
    checked: Checked,
    state: SharedPublisherState,
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
}

/// The outcome of a command, and where it is reported.
struct Reply {
    address: ReplyAddress,
    command: ParsedCommand,
    outcome: Result<Value, CommandRefusal>,
    /// The device, for a command of Sparkplug B.
    device: Option<String>,
}

/// The parts that all connections share.
struct Work<'a> {
    handler: &'a MqttPublisher,
    context: &'a Context,
    outlet: Outlet,
    runtime: Runtime,
    wake: Arc<WakeSocket>,
    replies: (Sender<Reply>, Receiver<Reply>),
    pending_commands: usize,
    /// Commands of the present read.
    commands: Vec<CommandMessage>,
    is_accepted: bool,
    updated: Option<Instant>,
    /// When the edge node was born, and whether a host asks for that again.
    born: (Option<Instant>, bool),
}

impl Handler for MqttPublisher {
    fn name(&self) -> &'static str {
        "mqtt_publish"
    }

    fn run(&self, context: Context) -> Result<(), Failure> {
        let failed = |error: io::Error| Failure(format!("cannot start: {error}"));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().map_err(failed)?;
        let positions = Positions::open(&self.config.directory, self.config.max_instances);
        let positions = positions.map_err(|error| {
            Failure(format!("cannot use mqtt_publish.directory {:?}: {error}", self.config.directory))
        })?;
        let session = Session::new(self.session_options(), Instant::now());
        let outlet = Outlet::new(&self.config, session, positions, self.state.clone());
        let mut work = Work {
            handler: self,
            context: &context,
            outlet,
            runtime,
            wake: Arc::new(WakeSocket::new().map_err(failed)?),
            replies: mpsc::channel(),
            pending_commands: 0,
            commands: Vec::new(),
            is_accepted: false,
            updated: None,
            born: (None, false),
        };
        let mut delay = ReconnectDelay::default();
        while !context.stopping.is_stopping() {
            let ended = work.connect();
            let was_accepted = mem::take(&mut work.is_accepted);
            self.lock().is_connected = false;
            work.save();
            let Err(error) = ended else { break };
            let (broker, error) = (self.checked.address.to_string(), error.to_string());
            tracing::warn!(broker, error, "no connection to the MQTT broker");
            self.lock().newest_failure = Some(error);
            if work.wait_for(delay.after(was_accepted)) {
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
                "published_samples",
                "repeated_samples",
                "missing_samples{cause}",
                "refused_samples",
                "births",
                "commands",
                "refused_commands",
            ],
            gauges: &["instances", "omitted_instances", "unread_samples", "in_flight"],
        }
    }

    fn problem(&self) -> Option<String> {
        self.lock().problem(&self.checked.address.to_string())
    }

    fn warnings(&self) -> Vec<String> {
        self.lock().warnings()
    }
}

impl MqttPublisher {
    /// Creates a handler that does not run yet.
    pub(crate) fn new(config: MqttPublishConfig, checked: Checked) -> Self {
        Self { config, checked, state: SharedPublisherState::default() }
    }

    /// Sessions end with their connections: commands of yesterday are not carried out today, and the positions know what to publish again.
    fn session_options(&self) -> SessionOptions {
        let edge = crate::sparkplug::EdgeNode::new(&self.config.group, &self.config.edge);
        let is_sparkplug = self.config.format == crate::PublishFormat::Sparkplug;
        let has_commands = !self.config.commands.is_empty();
        let [to_edge, to_devices] = edge.command_topics();
        let wanted = [
            (has_commands, self.config.commands.clone()),
            (is_sparkplug, to_edge),
            (is_sparkplug && has_commands, to_devices),
        ];
        let request = |filter| TopicRequest { filter, takes_retained: false };
        let subscriptions =
            wanted.into_iter().filter(|(is_wanted, _)| *is_wanted).map(|(_, filter)| request(filter));
        SessionOptions {
            version: self.config.version,
            is_clean: true,
            subscriptions: subscriptions.collect(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, PublisherState> {
        self.state.lock()
    }
}

impl Work<'_> {
    /// Publishes through one connection until it ends.
    fn connect(&mut self) -> Result<(), LinkError> {
        self.follow();
        let will = self.outlet.begin();
        self.save();
        let broker = self.handler.config.broker();
        let mut stream =
            broker.connect(&self.handler.checked.address, &mut self.outlet.session, will.as_ref())?;
        let peer = stream.peer()?;
        let mut chunk = vec![0; READ_CHUNK_BYTES];
        let mut stop_at = None;
        loop {
            let has_more = self.is_accepted && self.publish();
            stream.write(&self.outlet.session.take_output())?;
            if self.context.stopping.is_stopping() {
                let stop_at = *stop_at.get_or_insert_with(|| Instant::now() + SHUTDOWN_TIMEOUT);
                let is_done = !self.is_accepted || (!has_more && self.outlet.session.in_flight() == 0);
                if is_done || Instant::now() >= stop_at {
                    self.outlet.publish_death(will.as_ref().filter(|_| self.is_accepted));
                    self.outlet.session.end();
                    return Ok(stream.write(&self.outlet.session.take_output())?);
                }
            }
            let timeout = if has_more { Duration::ZERO } else { POLL_INTERVAL };
            if stream.wait(&self.wake, timeout)? {
                let read = stream.read(&mut chunk)?;
                self.outlet.session.push(chunk.get(..read).unwrap_or_default());
                self.handle_events()?;
            }
            self.wake.clear();
            self.send_commands(peer);
            self.publish_replies();
            self.outlet.session.poll(Instant::now())?;
        }
    }

    /// Waits before the next attempt to connect, and follows the instances meanwhile. Returns whether the handler has to stop.
    fn wait_for(&mut self, delay: Duration) -> bool {
        let end = Instant::now() + delay;
        loop {
            self.follow();
            self.outlet.measure();
            let rest = end.saturating_duration_since(Instant::now());
            if self.context.stopping.wait_for(rest.min(UPDATE_INTERVAL)) {
                return true;
            }
            if rest <= UPDATE_INTERVAL {
                return false;
            }
        }
    }

    /// Publishes what is new. Returns whether there is more.
    fn publish(&mut self) -> bool {
        let is_due = self.updated.is_none_or(|updated| updated.elapsed() >= UPDATE_INTERVAL);
        if is_due {
            self.updated = Some(Instant::now());
            self.save();
        }
        self.follow();
        if self.born.1 && self.born.0.is_none_or(|born| born.elapsed() >= REBIRTH_INTERVAL) {
            self.born = (Some(Instant::now()), false);
            self.outlet.publish_birth();
        }
        let has_devices = self.outlet.edge.is_some();
        if has_devices {
            self.outlet.publish_devices(&self.context.dac);
        }
        let archive = Archive { stored: self.context.archive.as_ref(), runtime: &self.runtime };
        let has_more = self.outlet.publish_items(&archive);
        if is_due {
            self.outlet.measure();
        }
        has_more
    }

    fn follow(&mut self) {
        let wake: Arc<dyn Wake> = self.wake.clone();
        let Outlet { topics, positions, .. } = &mut self.outlet;
        let (config, checked) = (&self.handler.config, &self.handler.checked);
        topics.follow(&Following {
            dac: &self.context.dac,
            config,
            positions,
            archive: self.context.archive.as_ref(),
            wake: &wake,
            name: &|instance| Outlet::name(config, checked, instance),
        });
    }

    fn save(&mut self) {
        let saved = self.outlet.positions.save();
        self.handler.lock().unsaved = saved.err().map(|error| error.to_string());
    }

    /// Handles all packets that have arrived.
    fn handle_events(&mut self) -> Result<(), SessionError> {
        while let Some(event) = self.outlet.session.take_next()? {
            match event {
                Event::Handled | Event::Confirmed | Event::TooLong(_) => {}
                Event::Connected { .. } => self.on_accepted(),
                Event::Subscribed { refused, .. } => self.handler.lock().is_refused = !refused.is_empty(),
                Event::Published { id, code } => self.outlet.on_published(id, code),
                // Retained commands would be carried out at each connection.
                Event::Message { publish, .. } if publish.is_retained => {}
                Event::Message { publish, .. } => {
                    if self.commands.len() < MAX_READ_COMMANDS {
                        self.commands.push(CommandMessage {
                            topic: publish.topic.to_owned(),
                            payload: publish.payload.to_owned(),
                            response_topic: publish.response_topic.map(str::to_owned),
                            correlation: publish.correlation.map(<[u8]>::to_owned),
                        });
                    } else {
                        self.handler.lock().refused_commands += 1;
                    }
                }
            }
        }
        // A command is acknowledged before it is carried out: it is never carried out twice.
        self.outlet.session.acknowledge();
        Ok(())
    }

    fn on_accepted(&mut self) {
        self.is_accepted = true;
        let limits = self.outlet.session.limits();
        let mut state = self.handler.lock();
        state.is_connected = true;
        state.connections += 1;
        state.is_unacknowledged = self.handler.config.qos == 1 && !limits.acknowledges;
        state.newest_failure = None;
        drop(state);
        let broker = self.handler.checked.address.to_string();
        tracing::info!(broker, "connected to the MQTT broker, publishing");
        self.born = (None, true);
    }

    /// Sends the commands of the last read to the DAC.
    fn send_commands(&mut self, peer: SocketAddr) {
        for message in mem::take(&mut self.commands) {
            let device = self
                .outlet
                .edge
                .as_ref()
                .and_then(|edge| edge.commanded(&message.topic).map(|device| device.map(str::to_owned)));
            match device {
                Some(None) => self.born.1 |= wants_births(&message.payload),
                Some(Some(device)) => self.send_writes(&message, &device, peer),
                None => {
                    let parsed = ParsedCommand::parse(&message.payload);
                    let address = message.reply_address(&self.handler.config.answers);
                    match parsed {
                        Ok(command) => self.send_command(command, address, None, peer),
                        Err(why) => self.refuse(&address, None, "bad_request", why),
                    }
                }
            }
        }
    }

    fn send_writes(&mut self, message: &CommandMessage, device: &str, peer: SocketAddr) {
        let address = message.reply_address(&self.handler.config.answers);
        let Some(topic) = self.outlet.topics.find(device) else {
            let name: String = device.chars().take(100).collect();
            return self.refuse(&address, None, "unknown_instance", format!("there is no device {name:?}"));
        };
        let (node, instance) = (topic.instance.node.to_string(), topic.instance.name.to_string());
        match writes(&message.payload, control_aliases(topic.instance.topic)) {
            Ok(requests) => {
                for request in requests {
                    let request = NamedRequest::from(request);
                    let command = ParsedCommand { node: node.clone(), instance: instance.clone(), request };
                    self.send_command(command, address.clone(), Some(device.to_owned()), peer);
                }
            }
            Err(why) => self.refuse(&address, None, "bad_request", why),
        }
    }

    /// Sends a command, whose permission is asked for and which is recorded like every other.
    fn send_command(
        &mut self,
        command: ParsedCommand,
        address: ReplyAddress,
        device: Option<String>,
        peer: SocketAddr,
    ) {
        let Some(commands) = &self.context.commands else {
            return self.refuse(&address, Some(&command), "unavailable", "the DAC takes no commands".into());
        };
        if self.pending_commands >= MAX_PENDING_COMMANDS {
            let why = format!("{MAX_PENDING_COMMANDS} commands are under way: wait for their answers");
            return self.refuse(&address, Some(&command), "busy", why);
        }
        // Read for each command, so that a new token needs no restart.
        let token = match secret_of_file(&self.handler.config.token_file) {
            Ok(token) => token,
            Err(why) => return self.refuse(&address, Some(&command), "bad_token", why.to_string()),
        };
        self.pending_commands += 1;
        let sent = TokenCommand {
            token,
            door: "mqtt",
            peer,
            node: command.node.clone(),
            instance: command.instance.clone(),
            request: command.request.clone(),
        };
        let (replies, wake) = (self.replies.0.clone(), self.wake.clone());
        let on_outcome = move |outcome| {
            // The handler may have stopped meanwhile.
            let _ = replies.send(Reply { address, command, outcome, device });
            wake.raise();
        };
        commands.send(sent, Box::new(on_outcome));
    }

    fn refuse(
        &mut self,
        address: &ReplyAddress,
        command: Option<&ParsedCommand>,
        code: &str,
        message: String,
    ) {
        self.handler.lock().refused_commands += 1;
        let refusal = Err(CommandRefusal { code: code.into(), message });
        self.outlet.publish_once(&address.topic, &answer(command, &refusal), address.correlation.as_deref());
    }

    /// Publishes the outcomes of commands.
    fn publish_replies(&mut self) {
        while let Ok(Reply { address, command, outcome, device }) = self.replies.1.try_recv() {
            self.pending_commands = self.pending_commands.saturating_sub(1);
            let mut state = self.handler.lock();
            *(if outcome.is_ok() { &mut state.commands } else { &mut state.refused_commands }) += 1;
            drop(state);
            if !self.is_accepted {
                continue;
            }
            let payload = answer(Some(&command), &outcome);
            self.outlet.publish_once(&address.topic, &payload, address.correlation.as_deref());
            // A host sees the value that is in force, whether it was written or not.
            if let Some(device) = device {
                self.outlet.publish_settings(&device);
            }
        }
    }
}
