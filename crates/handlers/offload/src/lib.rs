//! A handler that copies each sealed segment of the archive to a folder or to S3, as Parquet objects that other engines read.
//!
//! In the order of a sample: `series_shares` lists what a segment has, `sorted_samples` reads one instance in the order of time, `hour_objects` cuts
//! objects of a probe type and an hour, `destination` puts each once and reads it back, and `manifest` lists them when all are safe. `gap_report`
//! explains what is missing in the segment.
//! `docs/guides/offload-to-object-storage.md` is the guide.
//!
//! ```
//! use oasis_handler::ConfiguredHandler;
//! use oasis_offload::{Offload, OffloadConfig};
//!
//! assert!(Offload::configured(OffloadConfig::default())?.is_none(), "without an address nothing is copied");
//! # Ok::<(), oasis_offload::BadConfig>(())
//! ```

mod config;
mod destination;
mod error_text;
mod gap_report;
mod handler;
mod hour_objects;
mod manifest;
mod object_names;
mod s3_requests;
mod segment_copy;
mod segment_ledger;
mod series_shares;
mod sorted_samples;
mod state;

#[cfg(test)]
mod tests;

pub use config::{BadConfig, OffloadConfig};

use oasis_handler::ConfiguredHandler;

/// The section `[offload]`.
#[derive(Debug)]
pub enum Offload {}

impl ConfiguredHandler for Offload {
    type Config = OffloadConfig;
    type Handler = handler::SegmentOffload;
    type Error = BadConfig;

    fn configured(config: OffloadConfig) -> Result<Option<Self::Handler>, BadConfig> {
        if config.url.is_empty() {
            return Ok(None);
        }
        let location = config::Location::parse(&config.url)?;
        Ok(Some(handler::SegmentOffload::new(config, location)))
    }
}
