//! A handler that sends every sample by remote write, versions 1.0 and 2.0, to Prometheus and compatible servers.
//!
//! The handler reads each topic log from its own position, and the archive for what a log has evicted, so that nothing waits for it. In the order of a
//! sample: a `source` reads the samples of an instance, `round` collects those of a request, `encoding` writes its bytes, `outcome` sends it until the
//! server has taken or refused it, and `journal` keeps in a file up to where each instance was sent.
//! Sources: <https://prometheus.io/docs/specs/prw/remote_write_spec/>, <https://prometheus.io/docs/specs/prw/remote_write_spec_2_0/>.
//! `docs/guides/send-to-prometheus.md` is the guide.
//!
//! ```
//! use oasis_handler::ConfiguredHandler;
//! use oasis_remote_write::{RemoteWrite, RemoteWriteConfig};
//!
//! assert!(RemoteWrite::configured(RemoteWriteConfig::default())?.is_none(), "without an address nothing is sent");
//! # Ok::<(), oasis_remote_write::BadConfig>(())
//! ```

mod config;
mod encoding;
mod handler;
mod journal;
mod outcome;
mod part;
mod round;
mod source;
mod state;

#[cfg(test)]
mod tests;

pub use config::{BadConfig, RemoteWriteConfig, RemoteWriteVersion};

use oasis_handler::ConfiguredHandler;

/// The section `[remote_write]`.
#[derive(Debug)]
pub enum RemoteWrite {}

impl ConfiguredHandler for RemoteWrite {
    type Config = RemoteWriteConfig;
    type Handler = handler::RemoteWriteSender;
    type Error = BadConfig;

    fn configured(config: RemoteWriteConfig) -> Result<Option<Self::Handler>, BadConfig> {
        if config.url.is_empty() {
            return Ok(None);
        }
        let receiver = config::Receiver::new(&config)?;
        Ok(Some(handler::RemoteWriteSender::new(config, receiver)))
    }
}
