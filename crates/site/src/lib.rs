//! One DAC among others: its way to other DACs and to TEMs, over HTTP and WebSockets.
//!
//! [`registration`] lists a DAC in TEMs and [`announcement`] in the local network. [`relay`] reads other DACs for this one, [`copies`] takes their alarms,
//! and [`follow`] the accounts of one of them. [`client`] is a WebSocket to a DAC and [`api`] its HTTP, both with the token of this host
//! ([`host_token`]) if the DAC asks for one. [`revive`] starts tasks again after a panic.
//!
//! ```no_run
//! use oasis_client::Server;
//! use oasis_site::api;
//!
//! let server = Server { url: "http://127.0.0.1:7070".parse()?, ca: None };
//! let health = api::prompt(&server)?.get("/healthz", &[])?;
//! println!("{}", health["status"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg_attr(not(feature = "mdns"), path = "no_announcement.rs")]
pub mod announcement;
pub mod api;
mod beat_stream;
pub mod client;
pub mod copies;
pub mod follow;
pub mod host_token;
pub mod registration;
pub mod relay;
pub mod revive;
