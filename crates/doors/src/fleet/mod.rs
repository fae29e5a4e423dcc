//! Fleets: what thousands of instances show at a glance, summarized in one subscription.
//!
//! A reader gives a [`Selection`]: patterns of names, up to three metrics, a period. One thread ([`Fleets`]) computes a [`Summary`] of it once a period, for
//! all readers of all shards. It reads the newest sample of each instance only, and asks no probe for samples: a fleet raises no rate.

mod fleets;
mod measure;
mod message;
mod metric_path;
mod row;
mod selection;
mod summary;

pub use fleets::{Fleet, Fleets, StandingAlarms};
pub use measure::AlarmsByInstance;
pub use selection::FleetRequest;
pub use summary::FleetReader;
