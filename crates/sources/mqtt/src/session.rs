//! A session with a broker over its connections: packets and time in, events and bytes out.

use crate::{
    config::{ProtocolVersion, Subscription},
    inbox::{Inbox, Incoming},
    packet::{self, BadPacket, Login, Packet, Publish, TopicRequest},
    unconfirmed::Unconfirmed,
};
use std::time::{Duration, Instant};

/// Keep-alive interval; the broker closes a connection that is silent for 1.5 of it.
pub const KEEP_ALIVE_SECONDS: u16 = 30;
/// Time between two pings; a broker can demand shorter ones.
const PING_INTERVAL: Duration = Duration::from_secs(10);
/// Longest wait for the answer to a connection or a ping.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// Why a connection ends.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SessionError {
    /// The stream cannot be read further.
    #[error("{0}: does an MQTT broker listen there?")]
    Packet(#[from] BadPacket),
    /// The broker refuses the connection, or ends it.
    #[error("the broker refuses the connection (code {0}): {reason}", reason = reason(*.0))]
    Refused(u8),
    /// The broker is silent.
    #[error("the broker does not answer within {} s", ANSWER_TIMEOUT.as_secs())]
    Silent,
}

/// An event of a session.
#[derive(Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// Nothing that others see.
    Handled,
    /// The broker has accepted the connection.
    Connected {
        /// Whether it has kept the session.
        session_present: bool,
        /// Whether it had one, and what it kept for it is gone.
        is_lost: bool,
        /// Whether it has the subscriptions; otherwise it gets them now.
        has_subscriptions: bool,
    },
    /// The broker has answered the subscriptions: those that it refuses, and those that it does not keep messages for.
    Subscribed { refused: Vec<usize>, unacknowledged: Vec<usize> },
    /// A message. A known one was pushed before, and has only to be acknowledged again.
    Message { publish: Publish<'a>, is_known: bool },
    /// A message beyond the limit.
    TooLong,
}

/// A session.
#[derive(Debug)]
pub struct Session {
    version: ProtocolVersion,
    inbox: Inbox,
    output: Vec<u8>,
    /// Messages to acknowledge once they are stored.
    pending: Vec<u16>,
    unconfirmed: Unconfirmed,
    is_connected: bool,
    /// Whether the broker has had a session before.
    is_known: bool,
    /// Whether the broker has the subscriptions.
    has_subscribed: bool,
    ping_interval: Duration,
    /// The time of the newest CONNECT or PINGREQ.
    asked: Instant,
    is_answered: bool,
}

impl Session {
    /// Creates a session that the broker may not know yet.
    pub fn new(version: ProtocolVersion, now: Instant) -> Self {
        Self {
            version,
            inbox: Inbox::new(version),
            output: Vec::new(),
            pending: Vec::new(),
            unconfirmed: Unconfirmed::default(),
            is_connected: false,
            is_known: false,
            has_subscribed: false,
            ping_interval: PING_INTERVAL,
            asked: now,
            is_answered: true,
        }
    }

    /// Begins a new connection.
    pub fn begin(&mut self, login: &Login<'_>, now: Instant) {
        self.inbox = Inbox::new(self.version);
        self.output.clear();
        self.pending.clear();
        self.is_connected = false;
        self.ping_interval = PING_INTERVAL;
        packet::connect(login, self.version, &mut self.output);
        (self.asked, self.is_answered) = (now, false);
    }

    /// Adds bytes of the broker.
    pub fn push(&mut self, bytes: &[u8]) {
        self.inbox.push(bytes);
    }

    /// Handles the next packet; `None` if more bytes are needed.
    ///
    /// # Errors
    /// If the connection has to end.
    pub fn take_next(&mut self, subscriptions: &[Subscription]) -> Result<Option<Event<'_>>, SessionError> {
        let Some(incoming) = self.inbox.take_next()? else { return Ok(None) };
        Ok(Some(match incoming {
            Incoming::Packet(Packet::ConnAck { session_present, code, keep_alive }) if !self.is_connected => {
                if code != 0 {
                    return Err(SessionError::Refused(code));
                }
                let is_lost = self.is_known && !session_present;
                if !session_present {
                    self.unconfirmed.clear();
                    self.has_subscribed = false;
                }
                if !self.has_subscribed {
                    packet::subscribe(&wanted(subscriptions), self.version, &mut self.output);
                }
                let half = keep_alive
                    .filter(|seconds| *seconds > 0)
                    .map(|seconds| Duration::from_secs(seconds.into()) / 2);
                self.ping_interval = half.map_or(PING_INTERVAL, |half| half.min(PING_INTERVAL));
                (self.is_connected, self.is_known, self.is_answered) = (true, true, true);
                Event::Connected { session_present, is_lost, has_subscriptions: self.has_subscribed }
            }
            Incoming::Packet(Packet::SubAck(codes)) => {
                self.has_subscribed = true;
                let with = |is_meant: fn(u8) -> bool| {
                    let all = codes.iter().take(subscriptions.len()).enumerate();
                    all.filter(|(_, code)| is_meant(**code)).map(|(at, _)| at).collect()
                };
                Event::Subscribed {
                    refused: with(|code| code >= 0x80),
                    unacknowledged: with(|code| code == 0),
                }
            }
            Incoming::Packet(Packet::Publish(publish)) => {
                let mut is_known = false;
                if let Some(id) = publish.id {
                    let digest = Unconfirmed::digest(publish.topic, publish.payload);
                    is_known = publish.is_repeated && self.unconfirmed.has(id, digest);
                    self.unconfirmed.note(id, digest);
                    self.pending.push(id);
                }
                Event::Message { publish, is_known }
            }
            Incoming::TooLong(id) => {
                self.pending.extend(id);
                Event::TooLong
            }
            Incoming::Packet(Packet::PingResp) => {
                self.is_answered = true;
                self.unconfirmed.on_answer();
                Event::Handled
            }
            Incoming::Packet(Packet::Disconnect(code)) => return Err(SessionError::Refused(code)),
            Incoming::Packet(Packet::ConnAck { .. }) => return Err(BadPacket::Type(2).into()),
        }))
    }

    /// Whether messages wait for their acknowledgment.
    pub fn has_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Acknowledges all messages so far: they are stored.
    pub fn acknowledge(&mut self) {
        for id in self.pending.drain(..) {
            packet::acknowledge(id, &mut self.output);
        }
    }

    /// Publishes a message that the broker may lose.
    pub fn publish(&mut self, topic: &str, payload: &[u8]) {
        packet::publish(topic, payload, self.version, &mut self.output);
    }

    /// Pings the broker at intervals. Called after messages were acknowledged, so that the answer confirms them.
    ///
    /// # Errors
    /// If the broker does not answer.
    pub fn poll(&mut self, now: Instant) -> Result<(), SessionError> {
        let since = now.saturating_duration_since(self.asked);
        if !self.is_answered {
            return if since > ANSWER_TIMEOUT { Err(SessionError::Silent) } else { Ok(()) };
        }
        if self.is_connected && self.pending.is_empty() && since >= self.ping_interval {
            packet::ping(&mut self.output);
            self.unconfirmed.on_ping();
            (self.asked, self.is_answered) = (now, false);
        }
        Ok(())
    }

    /// Ends the connection; the broker keeps the session.
    pub fn end(&mut self) {
        packet::disconnect(&mut self.output);
    }

    /// Takes the bytes for the broker.
    pub fn take_output(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.output)
    }
}

fn wanted(subscriptions: &[Subscription]) -> Vec<TopicRequest<'_>> {
    subscriptions
        .iter()
        .map(|one| TopicRequest { filter: one.filter.as_str(), takes_retained: one.takes_retained })
        .collect()
}

/// The meaning of a code (MQTT 3.1.1, 3.2.2.3; MQTT 5, 2.4), and a remedy.
fn reason(code: u8) -> &'static str {
    match code {
        1 | 0x84 => "it does not speak this version: set mqtt.version",
        2 | 0x85 => "it does not take this name: set another mqtt.client_id",
        4 | 0x86 => "user or password are wrong: set mqtt.user and mqtt.password_file",
        5 | 0x87 => {
            "it does not permit this user: see mqtt.user, mqtt.password_file and the access rules of the broker"
        }
        3 | 0x88 | 0x89 => "it is not available at present",
        0x8b => "it shuts down",
        0x8e => "another client has this name: set another mqtt.client_id",
        0x97 => "a quota is exceeded",
        _ => "see MQTT 5, 2.4",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{MqttConfig, PayloadFormat, SubscriptionConfig};

    const LOGIN: Login<'_> =
        Login { client_id: "a", user: None, password: None, keep_alive: KEEP_ALIVE_SECONDS };
    const CONNACK: [u8; 4] = [0x20, 2, 0, 0];
    const CONNACK_OF_SESSION: [u8; 4] = [0x20, 2, 1, 0];
    const REPEATED: [u8; 8] = [0x3a, 6, 0, 1, b'a', 0, 9, b'1'];

    fn subscriptions() -> Vec<Subscription> {
        let subscribe = vec![SubscriptionConfig {
            topic: "a".into(),
            format: PayloadFormat::Number,
            node: "n".into(),
            instance: "i".into(),
            type_name: String::new(),
            time: String::new(),
            retained: false,
        }];
        let url = "mqtt://localhost".into();
        MqttConfig { url, subscribe, ..MqttConfig::default() }.checked().unwrap().subscriptions
    }

    /// The events of these bytes, and the bytes that answer them.
    fn answered(session: &mut Session, bytes: &[u8]) -> (Vec<String>, Vec<u8>) {
        session.push(bytes);
        let (all, mut events) = (subscriptions(), Vec::new());
        while let Some(event) = session.take_next(&all).unwrap() {
            events.push(format!("{event:?}"));
        }
        session.acknowledge();
        (events, session.take_output())
    }

    fn connected(session: &mut Session, ack: &[u8], now: Instant) -> (Vec<String>, Vec<u8>) {
        session.begin(&LOGIN, now);
        session.take_output();
        answered(session, ack)
    }

    #[test]
    fn a_message_that_the_broker_sends_again_is_known_until_a_ping_is_answered() {
        let now = Instant::now();
        let mut session = Session::new(ProtocolVersion::V3, now);
        let (events, output) = connected(&mut session, &CONNACK, now);
        assert_eq!(
            events,
            ["Connected { session_present: false, is_lost: false, has_subscriptions: false }"]
        );
        assert_eq!(output, b"\x82\x06\0\x01\0\x01a\x01");
        answered(&mut session, &[0x90, 3, 0, 1, 1]);
        let (events, output) = answered(&mut session, &REPEATED);
        assert!(events[0].contains("is_known: false"), "{events:?}");
        assert_eq!(output, [0x40, 2, 0, 9]);

        let (_, output) = connected(&mut session, &CONNACK_OF_SESSION, now);
        assert!(output.is_empty(), "the broker has the subscriptions");
        let (events, output) = answered(&mut session, &REPEATED);
        assert!(events[0].contains("is_known: true"), "{events:?}");
        assert_eq!(output, [0x40, 2, 0, 9], "it is acknowledged again");

        session.poll(now + PING_INTERVAL).unwrap();
        assert_eq!(session.take_output(), [0xc0, 0]);
        answered(&mut session, &[0xd0, 0]);
        let (events, _) = answered(&mut session, &REPEATED);
        assert!(events[0].contains("is_known: false"), "another message with the same bytes: {events:?}");
    }

    #[test]
    fn a_lost_session_is_an_event_and_begins_anew() {
        let now = Instant::now();
        let mut session = Session::new(ProtocolVersion::V3, now);
        connected(&mut session, &CONNACK, now);
        answered(&mut session, &[0x90, 3, 0, 1, 0x80]);
        answered(&mut session, &REPEATED);
        let (events, output) = connected(&mut session, &CONNACK, now);
        assert_eq!(events, ["Connected { session_present: false, is_lost: true, has_subscriptions: false }"]);
        assert!(!output.is_empty(), "it subscribes again");
        let (events, _) = answered(&mut session, &REPEATED);
        assert!(events[0].contains("is_known: false"), "{events:?}");
    }

    #[test]
    fn a_silent_broker_and_one_that_refuses_end_the_connection() {
        let now = Instant::now();
        let mut session = Session::new(ProtocolVersion::V5, now);
        session.begin(&LOGIN, now);
        let late = now + ANSWER_TIMEOUT + Duration::from_secs(1);
        assert_eq!(session.poll(late), Err(SessionError::Silent));
        session.push(&[0x20, 3, 0, 0x86, 0]);
        let error = session.take_next(&[]).unwrap_err().to_string();
        assert!(error.contains("mqtt.password_file"), "{error}");
    }
}
