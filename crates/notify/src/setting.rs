//! A key of a table `[notify.NAME]`: its errors, and what all kinds of destinations have.

use oasis_http_client::{Client, ClientConfig, Reach, Secret};
use oasis_tls::TlsError;
use std::{
    path::{Path, PathBuf},
    time::Duration,
};

/// Timeout of an attempt.
pub const TIMEOUT: Duration = Duration::from_secs(10);
/// Messages a minute, unless a destination has another limit.
pub const PER_MINUTE: u32 = 30;
/// Time in which a notification is tried, in seconds, unless a destination has another limit.
pub const GIVE_UP_AFTER: u64 = 86_400;
/// Most destinations: each has a thread.
pub const MOST_DESTINATIONS: usize = 32;
/// Longest time that a notification is tried, in seconds: 30 days.
const LONGEST_TRY: u64 = 2_592_000;
/// Most messages a minute.
const MOST_A_MINUTE: u32 = 60_000;

/// Treatment of a destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Messages a minute.
    pub per_minute: u32,
    /// Time in which a notification is tried.
    pub give_up_after: Duration,
}

/// Why a destination cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The name is none.
    #[error(
        "[notify.{0:?}] has a name that rules cannot use: take 1 to 64 bytes without control characters, not \"none\""
    )]
    Name(String),
    /// More than threads are made for.
    #[error("there are {0} tables [notify.NAME]: {MOST_DESTINATIONS} at most")]
    TooMany(usize),
    /// A setting has no value.
    #[error("{setting} is missing: {remedy}")]
    Missing {
        /// The key.
        setting: String,
        /// Value to write there.
        remedy: &'static str,
    },
    /// A setting has a value that cannot be used.
    #[error("{setting} is {value:?}: {remedy}")]
    Value {
        /// The key.
        setting: String,
        /// As given.
        value: String,
        /// Value to write instead.
        remedy: String,
    },
    /// A file cannot be used.
    #[error("{setting}: cannot use {}: {why}", path.display())]
    File {
        /// The key.
        setting: String,
        /// The file.
        path: PathBuf,
        /// The problem.
        why: String,
    },
    /// This library sends no mail.
    #[error("{0} is \"mail\", which this library was built without (feature mail)")]
    NoMail(String),
    /// Certificates cannot be used.
    #[error("{setting}: {error}")]
    Tls {
        /// The key.
        setting: String,
        /// The problem.
        error: TlsError,
    },
}

/// The keys of one table, for errors.
#[derive(Debug, Clone, Copy)]
pub struct Table<'a>(pub &'a str);

impl Table<'_> {
    /// `notify.NAME.KEY`
    pub fn key(&self, key: &str) -> String {
        format!("notify.{}.{key}", self.0)
    }

    /// An error of a key without a value.
    pub fn missing(&self, key: &str, remedy: &'static str) -> ConfigError {
        ConfigError::Missing { setting: self.key(key), remedy }
    }

    /// An error of a key with another value.
    pub fn value(&self, key: &str, value: &str, remedy: impl Into<String>) -> ConfigError {
        ConfigError::Value { setting: self.key(key), value: value.into(), remedy: remedy.into() }
    }

    /// Reads the secret of a file; `None` if the path is empty.
    pub fn secret(&self, key: &str, path: &Path) -> Result<Option<Secret>, ConfigError> {
        Secret::read(path).map_err(|error| ConfigError::File {
            setting: self.key(key),
            path: error.path,
            why: error.why,
        })
    }

    /// Creates a client that trusts the authorities of the key `ca_file`.
    pub fn client(&self, ca_file: &Path, is_encrypted: bool, reach: Reach) -> Result<Client, ConfigError> {
        let ca_file = ca_file.to_owned();
        let config =
            ClientConfig { ca_file, is_encrypted, reach, timeout: TIMEOUT, ..ClientConfig::default() };
        Client::new(config).map_err(|error| ConfigError::Tls { setting: self.key("ca_file"), error })
    }

    /// Checks the keys that all kinds have.
    pub fn limits(&self, per_minute: u32, give_up_after_seconds: u64) -> Result<Limits, ConfigError> {
        if !(1..=MOST_A_MINUTE).contains(&per_minute) {
            let remedy = format!("write a number from 1 to {MOST_A_MINUTE}");
            return Err(self.value("per_minute", &per_minute.to_string(), remedy));
        }
        if !(1..=LONGEST_TRY).contains(&give_up_after_seconds) {
            let remedy = format!("write a number from 1 to {LONGEST_TRY}");
            return Err(self.value("give_up_after_seconds", &give_up_after_seconds.to_string(), remedy));
        }
        Ok(Limits { per_minute, give_up_after: Duration::from_secs(give_up_after_seconds) })
    }
}
