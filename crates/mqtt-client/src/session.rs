//! A session with a broker over its connections: packets and time in, events and bytes out.

use crate::{
    ProtocolVersion,
    encode::{self, Login, OutgoingMessage, SUBSCRIBE_ID, TopicRequest},
    inbox::{Inbox, Incoming},
    packet::{BadPacket, BrokerLimits, Packet, Publish},
    unconfirmed::Unconfirmed,
};
use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};
use uuid::Uuid;

/// Keep-alive interval; the broker closes a connection that is silent for 1.5 of it.
pub const KEEP_ALIVE_SECONDS: u16 = 30;
/// Time between two pings; a broker can demand shorter ones.
const PING_INTERVAL: Duration = Duration::from_secs(10);
/// Time between two pings while messages arrive: the answer confirms their acknowledgments, after which they cannot come again.
const CONFIRMATION_INTERVAL: Duration = Duration::from_secs(1);
/// Longest wait for the answer to a connection or a ping.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// Longest wait for the acknowledgment of a message.
const ACKNOWLEDGMENT_TIMEOUT: Duration = Duration::from_secs(30);
/// Most messages that wait for their acknowledgment.
const MAX_IN_FLIGHT_MESSAGES: usize = 1_000;

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
    /// A message is not acknowledged.
    #[error("the broker acknowledges no message within {} s", ACKNOWLEDGMENT_TIMEOUT.as_secs())]
    Unacknowledged,
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
    Subscribed {
        /// The numbers of those that it refuses.
        refused: Vec<usize>,
        /// The numbers of those whose messages it does not repeat.
        unacknowledged: Vec<usize>,
    },
    /// A message. A known one was pushed before, and has only to be acknowledged again.
    Message {
        /// The message.
        publish: Publish<'a>,
        /// The digest of topic and payload; present if it has to be acknowledged.
        digest: Option<Uuid>,
        /// Whether it was pushed before, in the life of this session.
        is_known: bool,
    },
    /// A message beyond the limit, with its topic.
    TooLong(&'a str),
    /// The broker has answered a ping, and has the acknowledgments that were sent before the ping.
    Confirmed,
    /// The broker has a message of the client, or refuses it: a code of 0x80 and more.
    Published {
        /// Its identifier.
        id: u16,
        /// The code.
        code: u8,
    },
}

/// The kind of a session.
#[derive(Debug, Clone, Default)]
pub struct SessionOptions {
    /// The version of the protocol.
    pub version: ProtocolVersion,
    /// Whether each connection begins a session of its own. Otherwise the broker keeps the session.
    pub is_clean: bool,
    /// The subscriptions.
    pub subscriptions: Vec<TopicRequest>,
}

/// A session.
#[derive(Debug)]
pub struct Session {
    options: SessionOptions,
    limits: BrokerLimits,
    inbox: Inbox,
    output: Vec<u8>,
    /// Messages to acknowledge once they are stored.
    pending: Vec<u16>,
    unconfirmed: Unconfirmed,
    /// Messages of the client that are not acknowledged, and when they were published.
    in_flight: VecDeque<(u16, Instant)>,
    last_id: u16,
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
    pub fn new(options: SessionOptions, now: Instant) -> Self {
        Self {
            inbox: Inbox::new(options.version),
            options,
            limits: BrokerLimits::default(),
            output: Vec::new(),
            pending: Vec::new(),
            unconfirmed: Unconfirmed::default(),
            in_flight: VecDeque::new(),
            last_id: SUBSCRIBE_ID,
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
        self.inbox = Inbox::new(self.options.version);
        self.limits = BrokerLimits::default();
        self.output.clear();
        self.pending.clear();
        self.in_flight.clear();
        self.is_connected = false;
        self.ping_interval = PING_INTERVAL;
        encode::connect(login, self.options.version, self.options.is_clean, &mut self.output);
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
    pub fn take_next(&mut self) -> Result<Option<Event<'_>>, SessionError> {
        let subscriptions = &self.options.subscriptions;
        let Some(incoming) = self.inbox.take_next()? else { return Ok(None) };
        Ok(Some(match incoming {
            Incoming::Packet(Packet::ConnAck { session_present, code, limits }) if !self.is_connected => {
                if code != 0 {
                    return Err(SessionError::Refused(code));
                }
                let is_lost = self.is_known && !session_present && !self.options.is_clean;
                if !session_present {
                    self.unconfirmed.clear();
                    self.has_subscribed = subscriptions.is_empty();
                }
                if !self.has_subscribed {
                    encode::subscribe(subscriptions, self.options.version, &mut self.output);
                }
                self.limits = limits;
                let half = limits
                    .keep_alive
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
                let digest = publish.id.map(|_| Unconfirmed::digest(publish.topic, publish.payload));
                if let (Some(id), Some(digest)) = (publish.id, digest) {
                    is_known = publish.is_repeated && self.unconfirmed.has(id, digest);
                    self.unconfirmed.note(id, digest);
                    self.pending.push(id);
                }
                Event::Message { publish, digest, is_known }
            }
            Incoming::TooLong(topic, id) => {
                self.pending.extend(id);
                Event::TooLong(topic)
            }
            Incoming::Packet(Packet::PingResp) => {
                self.is_answered = true;
                self.unconfirmed.on_answer();
                Event::Confirmed
            }
            Incoming::Packet(Packet::PubAck { id, code }) => {
                match self.in_flight.iter().position(|(known, _)| *known == id) {
                    Some(at) => {
                        self.in_flight.remove(at);
                        Event::Published { id, code }
                    }
                    None => Event::Handled,
                }
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
            encode::acknowledge(id, &mut self.output);
        }
    }

    /// Publishes a message. Returns its identifier if the broker acknowledges it; called then only while [`Session::has_room`].
    pub fn publish(&mut self, message: &OutgoingMessage<'_>, now: Instant) -> Option<u16> {
        let id = (message.is_acknowledged && self.limits.acknowledges).then(|| self.next_id());
        let is_retained = message.is_retained && self.limits.retains;
        let message = OutgoingMessage { is_retained, ..*message };
        encode::publish(&message, id, self.options.version, &mut self.output);
        self.in_flight.extend(id.map(|id| (id, now)));
        id
    }

    fn next_id(&mut self) -> u16 {
        loop {
            self.last_id = self.last_id.checked_add(1).unwrap_or(SUBSCRIBE_ID + 1);
            if !self.in_flight.iter().any(|(id, _)| *id == self.last_id) {
                return self.last_id;
            }
        }
    }

    /// Whether the broker takes another message before it has acknowledged those that were published.
    pub fn has_room(&self) -> bool {
        self.in_flight.len() < MAX_IN_FLIGHT_MESSAGES.min(self.limits.receive_maximum.into())
    }

    /// The number of messages that are not acknowledged yet.
    pub fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// The limits of the broker.
    pub fn limits(&self) -> BrokerLimits {
        self.limits
    }

    /// Bytes that wait for [`Session::take_output`].
    pub fn output_bytes(&self) -> usize {
        self.output.len()
    }

    /// Pings the broker at intervals. Called after messages were acknowledged, so that the answer confirms them.
    ///
    /// # Errors
    /// If the broker does not answer.
    pub fn poll(&mut self, now: Instant) -> Result<(), SessionError> {
        let since = now.saturating_duration_since(self.asked);
        let oldest = self.in_flight.front().map(|(_, published)| now.saturating_duration_since(*published));
        if oldest > Some(ACKNOWLEDGMENT_TIMEOUT) {
            return Err(SessionError::Unacknowledged);
        }
        if !self.is_answered {
            return if since > ANSWER_TIMEOUT { Err(SessionError::Silent) } else { Ok(()) };
        }
        let interval = match self.unconfirmed.has_since_ping() {
            true => self.ping_interval.min(CONFIRMATION_INTERVAL),
            false => self.ping_interval,
        };
        if self.is_connected && self.pending.is_empty() && since >= interval {
            encode::ping(&mut self.output);
            self.unconfirmed.on_ping();
            (self.asked, self.is_answered) = (now, false);
        }
        Ok(())
    }

    /// Ends the connection; the broker keeps the session.
    pub fn end(&mut self) {
        encode::disconnect(&mut self.output);
    }

    /// Takes the bytes for the broker.
    pub fn take_output(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.output)
    }
}

/// The meaning of a code (MQTT 3.1.1, 3.2.2.3; MQTT 5, 2.4), and a remedy.
fn reason(code: u8) -> &'static str {
    match code {
        1 | 0x84 => "it does not speak this version: set version",
        2 | 0x85 => "it does not take this name: set another client_id",
        4 | 0x86 => "user or password are wrong: set user and password_file",
        5 | 0x87 => {
            "it does not permit this user: see user, password_file and the access rules of the broker"
        }
        3 | 0x88 | 0x89 => "it is not available at present",
        0x8b => "it shuts down",
        0x8e => "another client has this name: set another client_id",
        0x97 => "a quota is exceeded",
        _ => "see MQTT 5, 2.4",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOGIN: Login<'_> =
        Login { client_id: "a", user: None, password: None, keep_alive: KEEP_ALIVE_SECONDS, will: None };
    const CONNACK: [u8; 4] = [0x20, 2, 0, 0];
    const CONNACK_OF_SESSION: [u8; 4] = [0x20, 2, 1, 0];
    const REPEATED: [u8; 8] = [0x3a, 6, 0, 1, b'a', 0, 9, b'1'];

    fn subscribing(version: ProtocolVersion, now: Instant) -> Session {
        let subscriptions = vec![TopicRequest { filter: "a".into(), takes_retained: false }];
        Session::new(SessionOptions { version, is_clean: false, subscriptions }, now)
    }

    /// The events of these bytes, and the bytes that answer them.
    fn answered(session: &mut Session, bytes: &[u8]) -> (Vec<String>, Vec<u8>) {
        session.push(bytes);
        let mut events = Vec::new();
        while let Some(event) = session.take_next().unwrap() {
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
        let mut session = subscribing(ProtocolVersion::V3, now);
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
        let mut session = subscribing(ProtocolVersion::V3, now);
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
        let mut session = subscribing(ProtocolVersion::V5, now);
        session.begin(&LOGIN, now);
        let late = now + ANSWER_TIMEOUT + Duration::from_secs(1);
        assert_eq!(session.poll(late), Err(SessionError::Silent));
        session.push(&[0x20, 3, 0, 0x86, 0]);
        let error = session.take_next().unwrap_err().to_string();
        assert!(error.contains("password_file"), "{error}");
    }

    const MESSAGE: OutgoingMessage<'_> = OutgoingMessage {
        topic: "a",
        payload: b"1",
        is_acknowledged: true,
        is_retained: false,
        correlation: None,
    };

    #[test]
    fn a_message_is_published_once_the_broker_has_acknowledged_it() {
        let now = Instant::now();
        let options =
            SessionOptions { version: ProtocolVersion::V5, is_clean: true, ..SessionOptions::default() };
        let mut session = Session::new(options, now);
        // The broker takes one message at a time.
        let (events, output) = connected(&mut session, &[0x20, 6, 0, 0, 3, 0x21, 0, 1], now);
        assert_eq!(events, ["Connected { session_present: false, is_lost: false, has_subscriptions: true }"]);
        assert!(output.is_empty() && session.has_room());
        assert_eq!(session.publish(&MESSAGE, now), Some(2));
        assert_eq!(session.take_output(), [0x32, 7, 0, 1, b'a', 0, 2, 0, b'1']);
        assert!(!session.has_room());
        assert_eq!(answered(&mut session, &[0x40, 2, 0, 9]).0, ["Handled"]);
        assert_eq!(answered(&mut session, &[0x40, 3, 0, 2, 0x87]).0, ["Published { id: 2, code: 135 }"]);
        assert!(session.has_room());
        assert_eq!(session.publish(&MESSAGE, now), Some(3));
        let late = now + ACKNOWLEDGMENT_TIMEOUT + Duration::from_secs(1);
        assert_eq!(session.poll(late), Err(SessionError::Unacknowledged));
    }

    #[test]
    fn identifiers_wrap_past_those_in_flight_and_that_of_a_subscription() {
        let now = Instant::now();
        let mut session = Session::new(SessionOptions::default(), now);
        let first = session.publish(&MESSAGE, now).unwrap();
        let later: Vec<u16> = (0..u16::MAX - 3)
            .map(|_| {
                let id = session.publish(&MESSAGE, now).unwrap();
                session.in_flight.truncate(1);
                id
            })
            .collect();
        assert_eq!((first, later.last()), (2, Some(&(u16::MAX - 1))));
        let last: Vec<u16> = (0..2).filter_map(|_| session.publish(&MESSAGE, now)).collect();
        assert_eq!(last, [u16::MAX, 3], "2 is in flight, and 1 is that of the subscription");
    }
}
