//! A source that receives MAVLink, versions 1 and 2, from vehicles over UDP and serial lines.
//!
//! In the order of a frame: `link` reads a socket or a serial line, `inbox` cuts its bytes into frames, `frame` parses one, `dialect` and `field`
//! know its message, `track` follows the numbers of its sender, `receiver` pushes the sample, and `source` runs all of this.
//! Sources: <https://mavlink.io/en/guide/serialization.html>, <https://mavlink.io/en/guide/message_signing.html>, and the table `messages.txt`, made of
//! MAVLink's XML files. `docs/guides/receive-mavlink.md` is the guide.
//!
//! ```
//! use oasis_handler::ConfiguredHandler;
//! use oasis_mavlink::{Mavlink, MavlinkConfig};
//!
//! assert!(Mavlink::configured(MavlinkConfig::default())?.is_none(), "it is enabled by a link");
//! # Ok::<(), oasis_mavlink::BadConfig>(())
//! ```

mod address;
mod config;
mod dialect;
mod field;
mod frame;
mod inbox;
mod link;
mod receiver;
mod source;
mod state;
mod track;

#[cfg(test)]
mod tests;

pub use address::BadAddress;
pub use config::{BadConfig, MavlinkConfig};
pub use frame::encode;
pub use receiver::{Receiver, ReceiverCounters, Way};

use oasis_handler::ConfiguredHandler;

/// The section `[mavlink]`.
#[derive(Debug)]
pub enum Mavlink {}

impl ConfiguredHandler for Mavlink {
    type Config = MavlinkConfig;
    type Handler = source::MavlinkSource;
    type Error = BadConfig;

    fn configured(config: MavlinkConfig) -> Result<Option<Self::Handler>, BadConfig> {
        if config.links.is_empty() {
            return Ok(None);
        }
        let checked = config.checked()?;
        Ok(Some(source::MavlinkSource::new(config, checked)))
    }
}
