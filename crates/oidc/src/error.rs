//! Why a sign-in cannot be offered, or has failed.

use oasis_tls::TlsError;
use std::{io, path::PathBuf};

/// A setting of `[access.oidc]` that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// An attacker on the network could pretend to be the provider.
    #[error("{setting} is {url:?}: write a URL with https:// (http:// on loopback alone)")]
    Url {
        /// Its name.
        setting: &'static str,
        /// Its value.
        url: String,
    },
    /// A setting that the others need.
    #[error("{0} is empty: the provider needs it")]
    Missing(&'static str),
    /// The secret is not secret.
    #[error("others can read {path} (mode {mode:03o}): run `chmod 600 {path}`", path = .path.display())]
    SecretOpenToOthers {
        /// The file.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// The secret cannot be read.
    #[error("cannot read {path} (access.oidc.client_secret_file): {error}", path = .path.display())]
    Secret {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// The authorities cannot be read.
    #[error("access.oidc.ca_file: {0}")]
    Authorities(#[from] TlsError),
    /// No random numbers.
    #[error("no sign-in can be bound to its browser: {0}")]
    Random(io::Error),
    /// This library cannot talk to providers.
    #[error("access.oidc.issuer needs OpenID Connect, which this library was built without (feature client)")]
    NotBuilt,
}

/// Reason why a sign-in failed.
#[derive(Debug, thiserror::Error)]
pub enum SignInFailure {
    /// The provider does not answer, or its answer is not valid.
    #[error("the provider of identity cannot be used: {0}")]
    Down(String),
    /// The provider has refused, or the person has.
    #[error("the provider of identity has refused: {0}")]
    Denied(String),
    /// The browser has no cookie of this sign-in, or the answer is of another one.
    #[error("the answer is not of a sign-in that this browser has begun within 10 minutes")]
    OtherFlow,
    /// The code was not exchanged for tokens.
    #[error("the provider of identity did not take its code back: {0}")]
    Code(String),
    /// Its ID token is not good.
    #[error("the ID token is refused: {0}")]
    IdToken(String),
    /// The claims do not name a user.
    #[error("the claim {claim} is {found}: it must be the name of a user (access.oidc.name_claim)")]
    Name {
        /// The claim.
        claim: String,
        /// Its value, shortened.
        found: String,
    },
    /// No random numbers.
    #[error("no sign-in can begin: {0}")]
    Random(#[from] io::Error),
}

impl SignInFailure {
    /// Returns the code for the page.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Down(_) => "provider_down",
            Self::Denied(_) => "denied",
            Self::OtherFlow => "other_flow",
            Self::Code(_) | Self::IdToken(_) => "bad_answer",
            Self::Name { .. } => "no_name",
            Self::Random(_) => "internal",
        }
    }
}

/// At most 200 characters of a text from outside, without control characters.
#[cfg(feature = "client")]
pub(crate) fn shortened(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(200).collect()
}

/// An error with its causes.
#[cfg(feature = "client")]
pub(crate) fn explained(error: &dyn std::error::Error) -> String {
    let mut said = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        if !said.contains(&text) {
            said = format!("{said}: {text}");
        }
        cause = error.source();
    }
    shortened(&said)
}
