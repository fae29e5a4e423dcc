//! Destinations and their delivery against real peers: Debian's Alertmanager and aiosmtpd, and a webhook over HTTPS.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test says what it expects by unwrapping")]
#![allow(missing_docs, reason = "tests are named as sentences")]

mod alertmanager;
mod harness;
mod kills;
#[cfg(feature = "mail")]
mod mail;
mod outbox;
mod webhook;
