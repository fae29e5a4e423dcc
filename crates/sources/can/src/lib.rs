//! A source that receives frames of CAN interfaces (SocketCAN of Linux), decoded by CAN databases (DBC).
//!
//! In the order of a frame: `socket` reads it, `frame` parses it, `decoder` makes a sample of its signals, and `source` runs a thread for each interface.
//! Sources: <https://docs.kernel.org/networking/can.html>, `linux/can.h`. `docs/guides/receive-can.md` is the guide.
//!
//! ```
//! use oasis_can::{Can, CanConfig};
//! use oasis_handler::ConfiguredHandler;
//!
//! assert!(Can::configured(CanConfig::default())?.is_none(), "it is enabled by an interface");
//! # Ok::<(), oasis_can::BadConfig>(())
//! ```

mod config;
mod decoder;
mod frame;
mod socket;
mod source;

#[cfg(test)]
mod tests;

pub use config::{BadConfig, CanConfig};
pub use decoder::{Decoder, DecoderCounters, Messages};

use oasis_handler::ConfiguredHandler;

/// The section `[can]`.
#[derive(Debug)]
pub enum Can {}

impl ConfiguredHandler for Can {
    type Config = CanConfig;
    type Handler = source::CanSource;
    type Error = BadConfig;

    fn configured(config: CanConfig) -> Result<Option<Self::Handler>, BadConfig> {
        if config.interfaces.is_empty() {
            return Ok(None);
        }
        let origins = config.origins()?;
        let messages = decoder::Messages::read(&config.dbc).map_err(BadConfig::Database)?;
        Ok(Some(source::CanSource::new(config, origins, messages)))
    }
}
