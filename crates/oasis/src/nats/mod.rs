//! Copies in NATS JetStream that become part of an archive: all of them by `oasis import --nats`, or those that a DAC lacks when it starts.

mod continued;
mod import;

pub use import::{catch_up, import};
