//! NATS as OASIS uses it: the connection, and the form of copied samples in JetStream.
//!
//! A **target** ([`Target`]) is the address of NATS with its credentials, checked once. A **copy** ([`struct@Copy`]) is a message in JetStream: a batch with the names
//! that it needs to become part of an archive, or losses. With the feature `client` a `Connection` uses them, and with
//! the feature `handler` a handler of the DAC copies samples.
//!
//! ```
//! use oasis_nats::{InstanceId, NatsConfig, Target};
//!
//! let id = InstanceId::of("plant", "boiler");
//! assert_eq!(id.subject(), format!("oasis.v1.batch.{}.{id}", id.partition()));
//! assert!(Target::new(&NatsConfig::default())?.is_none(), "no server is configured");
//! # Ok::<(), oasis_nats::BadTarget>(())
//! ```

#[cfg(feature = "client")]
mod bucket;
#[cfg(feature = "client")]
pub mod channel;
#[cfg(feature = "client")]
mod client;
mod config;
#[cfg(feature = "client")]
mod copies;
mod copy;
#[cfg(feature = "handler")]
pub mod handler;
mod instance_id;
mod sorter;
#[cfg(feature = "client")]
mod streams;
mod target;

#[cfg(feature = "client")]
pub use client::{Connection, NatsError, State};
pub use config::NatsConfig;
#[cfg(feature = "client")]
pub use copies::{Copied, Copies};
pub use copy::{Copy, CopyError, Head, Lost, schema_key};
pub use instance_id::{InstanceId, PARTITIONS, stream_name};
pub use sorter::Sorter;
#[cfg(feature = "client")]
pub use streams::{Limits, Schemas, create_schemas, create_streams};
pub use target::{BadTarget, Target};
