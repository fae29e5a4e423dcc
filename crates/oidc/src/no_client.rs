//! In place of sign-in by a provider, for programs that are built without it: an [`OpenId`] cannot be made.

use crate::{
    browser::{BegunSignIn, SignInReturn},
    error::{ConfigError, SignInFailure},
    identity::Identity,
};
use oasis_access::OidcConfig;
use oasis_wire::quantity::Nanos;

/// Sign-in by a provider.
#[derive(Debug)]
pub enum OpenId {}

impl OpenId {
    /// Returns none if people do not sign in so.
    ///
    /// # Errors
    /// If they do.
    pub fn new(config: OidcConfig) -> Result<Option<Self>, ConfigError> {
        if config.is_enabled() { Err(ConfigError::NotBuilt) } else { Ok(None) }
    }

    /// Returns the settings.
    pub fn config(&self) -> &OidcConfig {
        match *self {}
    }

    /// Returns where the provider sends browsers back.
    pub fn redirect_url<'a>(&'a self, _: &'a str) -> &'a str {
        match *self {}
    }

    /// Begins a sign-in.
    ///
    /// # Errors
    /// Never.
    pub fn begin(&self, _: &str, _: Nanos) -> Result<BegunSignIn, SignInFailure> {
        match *self {}
    }

    /// Learns who has come back.
    ///
    /// # Errors
    /// Never.
    pub fn complete(&self, _: SignInReturn<'_>, _: &str, _: Nanos) -> Result<Identity, SignInFailure> {
        match *self {}
    }
}
