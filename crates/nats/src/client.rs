//! A connection to NATS, which reconnects by itself.

use crate::target::{SignIn, Target};
use async_nats::{Client, ConnectOptions, Event, jetstream};
use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

/// Timeout of an attempt to connect.
const CONNECT: Duration = Duration::from_secs(5);
/// Timeout of an answer of JetStream.
const ANSWER: Duration = Duration::from_secs(5);
/// Longest pause between attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// Messages that wait in one subscription.
const SUBSCRIPTION: usize = 4_096;
/// Commands that wait for the connection.
const COMMANDS: usize = 1_024;

/// An error of NATS, for people.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("NATS: {0}")]
pub struct NatsError(pub String);

impl NatsError {
    /// Describes an error, with what was attempted.
    pub fn at(what: &str, error: impl std::fmt::Display) -> Self {
        Self(format!("{what}: {error}"))
    }
}

/// State of a connection. Shared with the callbacks of the client.
#[derive(Debug, Default)]
pub struct State {
    /// Last complaint of the server or the client. Locked to copy it.
    detail: Mutex<Option<String>>,
    /// Messages that a full subscription dropped, as far as the client reports.
    slow: AtomicU64,
    disconnects: AtomicU64,
}

impl State {
    fn detail_mut(&self) -> MutexGuard<'_, Option<String>> {
        self.detail.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what the server or the client complained about last, such as missing permissions.
    pub fn detail(&self) -> Option<String> {
        self.detail_mut().clone()
    }

    /// Returns how many events reported that a full subscription dropped messages.
    pub fn slow(&self) -> u64 {
        self.slow.load(Ordering::Relaxed)
    }

    /// Returns how often the connection was lost.
    pub fn disconnects(&self) -> u64 {
        self.disconnects.load(Ordering::Relaxed)
    }

    fn note(&self, event: &Event) {
        match event {
            Event::SlowConsumer(_) => {
                self.slow.fetch_add(1, Ordering::Relaxed);
            }
            Event::Disconnected => {
                self.disconnects.fetch_add(1, Ordering::Relaxed);
            }
            Event::ServerError(error) => *self.detail_mut() = Some(error.to_string()),
            Event::ClientError(error) => *self.detail_mut() = Some(error.to_string()),
            Event::Connected => *self.detail_mut() = None,
            Event::LameDuckMode | Event::Draining | Event::Closed => {}
        }
    }
}

/// A connection to NATS.
#[derive(Debug, Clone)]
pub struct Connection {
    /// The connection itself.
    pub client: Client,
    /// JetStream over it.
    pub jetstream: jetstream::Context,
    /// Returns the state of the connection.
    pub state: Arc<State>,
}

impl Connection {
    /// Connects. Afterwards the client connects again by itself whenever the connection is lost.
    ///
    /// # Errors
    /// If no server accepts the connection in time.
    pub async fn open(target: &Target, name: &str) -> Result<Self, NatsError> {
        let state = Arc::new(State::default());
        let noting = state.clone();
        let mut options = ConnectOptions::new()
            .name(name)
            .connection_timeout(CONNECT)
            .subscription_capacity(SUBSCRIPTION)
            .client_capacity(COMMANDS)
            .ping_interval(Duration::from_secs(2))
            .ignore_discovered_servers()
            .require_tls(target.is_encrypted)
            .reconnect_delay_callback(|attempts| {
                let pause = Duration::from_millis(50).saturating_mul(1 << attempts.min(8));
                pause.min(LONGEST_PAUSE)
            })
            .event_callback(move |event| {
                noting.note(&event);
                std::future::ready(())
            });
        if let Some(ca) = &target.ca {
            options = options.add_root_certificates(ca.clone());
        }
        if let Some((certificate, key)) = &target.certificate {
            options = options.add_client_certificate(certificate.clone(), key.clone());
        }
        options = match &target.sign_in {
            SignIn::Nothing => options,
            SignIn::Credentials(text) => {
                let bad = |_| NatsError("nats.credentials_file has no JWT and key of a user".into());
                options.credentials(text).map_err(bad)?
            }
            SignIn::Nkey(seed) => options.nkey(seed.clone()),
            SignIn::Password(user, password) => options.user_and_password(user.clone(), password.clone()),
        };
        let failed = |why: String| NatsError(format!("cannot connect to {target}: {why}"));
        let connecting = tokio::time::timeout(CONNECT, options.connect(target.servers.clone()));
        let client = connecting
            .await
            .map_err(|_| failed(format!("no answer within {} s", CONNECT.as_secs())))?
            .map_err(|error| failed(error.to_string()))?;
        let mut jetstream = jetstream::new(client.clone());
        jetstream.set_timeout(ANSWER);
        Ok(Self { client, jetstream, state })
    }
}
