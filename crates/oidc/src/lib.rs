//! Sign-in by a provider of identity that speaks OpenID Connect: the authorization code flow with PKCE.
//!
//! An [`OpenId`] sends a browser to the provider ([`OpenId::begin`]) and learns who has come back
//! ([`OpenId::complete`]). What binds both is in a cookie of the browser and in nothing else, so no attacker can fill a
//! memory of begun sign-ins. What the provider says of itself is read when it is needed, and kept for an hour.
//!
//! All of it is synchronous, and bounds what it reads and how long it waits.
//!
//! ```
//! use oasis_access::OidcConfig;
//! use oasis_oidc::OpenId;
//!
//! let config = OidcConfig { issuer: "http://id.example.org".into(), ..OidcConfig::default() };
//! assert!(OpenId::new(config).unwrap_err().to_string().contains("https://"));
//! assert!(OpenId::new(OidcConfig::default()).unwrap().is_none());
//! ```

mod error;
mod flow;
mod http;
mod identity;
mod open_id;
mod provider;
mod settings;

pub use error::{ConfigError, SignInFailure};
pub use flow::LIFE_SECONDS;
pub use identity::Identity;
pub use open_id::{Begun, OpenId, Return};
