//! Sign-in by a provider of identity that speaks OpenID Connect: the authorization code flow with PKCE.
//!
//! An [`OpenId`] sends a browser to the provider ([`OpenId::begin`]) and learns who has come back
//! ([`OpenId::complete`]). What binds both is in a cookie of the browser and in nothing else, so no attacker can fill a
//! memory of begun sign-ins. What the provider says of itself is read when it is needed, and kept for an hour.
//!
//! All of it is synchronous, and bounds what it reads and how long it waits. Without the feature `client` there are no
//! providers, and settings that name one are refused.
//!
//! ```
//! use oasis_access::OidcConfig;
//! use oasis_oidc::OpenId;
//!
//! let config = OidcConfig { issuer: "http://id.example.org".into(), ..OidcConfig::default() };
//! assert!(OpenId::new(config).is_err(), "an attacker on the network could pretend to be the provider");
//! assert!(OpenId::new(OidcConfig::default()).unwrap().is_none());
//! ```

mod browser;
#[cfg(feature = "client")]
mod claims;
mod error;
#[cfg(feature = "client")]
mod flow;
#[cfg(feature = "client")]
mod http;
mod identity;
#[cfg_attr(not(feature = "client"), path = "no_client.rs")]
mod open_id;
#[cfg(feature = "client")]
mod provider;
#[cfg(feature = "client")]
mod settings;

pub use browser::{BegunSignIn, LIFE_SECONDS, SignInReturn};
pub use error::{ConfigError, SignInFailure};
pub use identity::Identity;
pub use open_id::OpenId;
