//! Principals: those who ask for something.

use crate::{rights::Rights, secret::Digest, token::TokenId};
use oasis_wire::quantity::Nanos;
use std::{fmt, sync::Arc};

/// Kind of a principal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Has not signed in.
    Stranger,
    /// Comes from this host, and has not signed in.
    Local,
    /// Has signed in with a password, or by another provider of identity.
    Person,
    /// Has an API token.
    Program,
}

impl Kind {
    /// Returns the word in the audit log.
    pub fn word(self) -> &'static str {
        match self {
            Self::Stranger => "stranger",
            Self::Local => "local",
            Self::Person => "person",
            Self::Program => "program",
        }
    }
}

/// Credential of a principal, by which it is looked up again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Credential {
    /// Nothing.
    None,
    /// The cookie of a session.
    Session(Digest),
    /// An API token.
    Token(TokenId),
    /// The token of the DAC's own user.
    Host,
}

/// Someone who asks for something, with its rights. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Principal {
    pub(crate) kind: Kind,
    pub(crate) name: Arc<str>,
    pub(crate) rights: Arc<Rights>,
    pub(crate) credential: Credential,
    pub(crate) is_embedded: bool,
    /// State of the policy and of the sessions that the rights are from.
    pub(crate) generation: u64,
    /// When the credential expires by the wall clock; `u64::MAX` for never.
    pub(crate) expires: Nanos,
    /// When it must be looked up again at the latest, by the steady clock.
    pub(crate) look_again: Nanos,
}

impl Principal {
    /// Returns what it is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the name of its account or token; empty for strangers and local ones.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns its rights, as [`decide`](crate::decide) reads them.
    pub fn rights(&self) -> &Rights {
        &self.rights
    }

    /// Whether its token is for pages that other sites embed. Other principals must not be served in a frame.
    pub fn is_embedded(&self) -> bool {
        self.is_embedded
    }

    /// Whether it has shown a token or a session, and is not recognized by its address alone.
    pub fn has_signed_in(&self) -> bool {
        self.credential != Credential::None
    }

    /// Whether it has shown the token that only the DAC's own user can read.
    pub fn has_host_token(&self) -> bool {
        self.credential == Credential::Host
    }

    /// Whether requests that change something need a CSRF token: browsers send the cookie by themselves.
    pub fn needs_csrf_token(&self) -> bool {
        matches!(self.credential, Credential::Session(_))
    }

    #[cfg(test)]
    pub(crate) fn with_rights(kind: Kind, name: &str, rights: Rights) -> Self {
        Self {
            kind,
            name: name.into(),
            rights: rights.into(),
            credential: Credential::None,
            is_embedded: false,
            generation: 0,
            expires: Nanos(u64::MAX),
            look_again: Nanos(u64::MAX),
        }
    }
}

/// As in the audit log: `person:ada`, `program:grafana`, `local`.
impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Kind::Stranger | Kind::Local => f.write_str(self.kind.word()),
            Kind::Person | Kind::Program => write!(f, "{}:{}", self.kind.word(), self.name),
        }
    }
}
