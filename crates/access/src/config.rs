//! The settings (`[access]`).

use crate::oidc_config::OidcConfig;
use serde::{Deserialize, Serialize};
use std::{env, path::PathBuf, time::Duration};

/// Folder of accounts and audit log, and lifetimes of sessions and records (`[access]`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AccessConfig {
    /// Folder of accounts and audit log; empty for the default of the user ([`AccessConfig::folder`]).
    pub directory: String,
    /// Whether strangers may do everything, without signing in.
    pub insecure: bool,
    /// Credentials that a user on this host needs.
    pub local: LocalAccess,
    /// Time after which an unused session ends, in seconds. An open stream counts as use.
    pub session_idle_seconds: u64,
    /// Time after which every session ends, in seconds.
    pub session_seconds: u64,
    /// Most bytes of the audit log: beyond it the oldest file is removed.
    pub audit_bytes: u64,
    /// Longest that a file of the audit log is kept after its last record, in days; 0 for no limit.
    pub audit_days: u64,
    /// Addresses of the DAC that keeps the accounts; empty if this one keeps its own.
    pub follow: Vec<String>,
    /// CA of the certificate of that DAC.
    pub follow_ca: PathBuf,
    /// File with a token of the role `follower`.
    pub follow_token_file: PathBuf,
    /// Longest that a copy of the accounts is trusted without being confirmed, in seconds.
    pub follow_max_age_seconds: u64,
    /// A provider of identity.
    pub oidc: OidcConfig,
}

/// Credentials required of users on this host without a sign-in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LocalAccess {
    /// Nothing: all users of this host have the roles of `local`.
    #[default]
    Open,
    /// A link that is good once, or the token in a file that only the DAC's user can read.
    Token,
}

impl Default for AccessConfig {
    fn default() -> Self {
        Self {
            directory: String::new(),
            insecure: false,
            local: LocalAccess::Open,
            session_idle_seconds: 2 * 3_600,
            session_seconds: 24 * 3_600,
            audit_bytes: 1 << 30,
            audit_days: 400,
            follow: Vec::new(),
            follow_ca: PathBuf::new(),
            follow_token_file: PathBuf::new(),
            follow_max_age_seconds: 24 * 3_600,
            oidc: OidcConfig::default(),
        }
    }
}

impl AccessConfig {
    /// Returns the folder: the one of the settings, else `$STATE_DIRECTORY/access` (systemd sets that), else
    /// `$XDG_STATE_HOME/oasis/access`, else `~/.local/state/oasis/access`. None if the environment has none of them.
    pub fn folder(&self) -> Option<PathBuf> {
        if !self.directory.is_empty() {
            return Some(self.directory.clone().into());
        }
        let variable = |name: &str| {
            // systemd separates several by colons.
            let value = env::var(name).ok()?.split(':').next().map(PathBuf::from);
            value.filter(|path| path.is_absolute())
        };
        variable("STATE_DIRECTORY").map(|state| state.join("access")).or_else(|| {
            let state =
                variable("XDG_STATE_HOME").or_else(|| Some(variable("HOME")?.join(".local/state")))?;
            Some(state.join("oasis/access"))
        })
    }

    /// Returns how long sessions live.
    pub(crate) fn session_limits(&self) -> SessionLimits {
        SessionLimits {
            idle: Duration::from_secs(self.session_idle_seconds),
            absolute: Duration::from_secs(self.session_seconds),
        }
    }
}

/// Lifetimes of sessions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SessionLimits {
    pub(crate) idle: Duration,
    pub(crate) absolute: Duration,
}
