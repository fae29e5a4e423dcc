//! A source that receives MAVLink, versions 1 and 2, from vehicles over UDP and serial lines.
//!
//! In the order of a frame: `link` reads a socket or a serial line, `inbox` cuts its bytes into frames, `frame` parses one, `dialect` and `field`
//! know its message, `track` follows the numbers of its sender, `receiver` pushes the sample, and `source` runs all of this.
//! Sources: <https://mavlink.io/en/guide/serialization.html>, <https://mavlink.io/en/guide/message_signing.html>, and the table `messages.txt`, made of
//! MAVLink's XML files. `docs/guides/receive-mavlink.md` is the guide. Without the feature `source`, settings that enable it are refused.
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
#[cfg(feature = "source")]
mod dialect;
#[cfg(feature = "source")]
mod field;
#[cfg(feature = "source")]
mod frame;
#[cfg(feature = "source")]
mod inbox;
#[cfg(feature = "source")]
mod link;
#[cfg(feature = "source")]
mod receiver;
#[cfg(feature = "source")]
mod source;
#[cfg(feature = "source")]
mod state;
#[cfg(feature = "source")]
mod track;

#[cfg(test)]
#[cfg(feature = "source")]
mod tests;

pub use address::BadAddress;
pub use config::{BadConfig, MavlinkConfig};
#[cfg(feature = "source")]
pub use frame::encode;
#[cfg(feature = "source")]
pub use receiver::{Receiver, ReceiverCounters, Way};

use oasis_handler::ConfiguredHandler;

/// The section `[mavlink]`.
#[derive(Debug)]
pub enum Mavlink {}

impl ConfiguredHandler for Mavlink {
    type Config = MavlinkConfig;
    #[cfg(feature = "source")]
    type Handler = source::MavlinkSource;
    #[cfg(not(feature = "source"))]
    type Handler = oasis_handler::Unbuilt;
    type Error = BadConfig;

    fn configured(config: MavlinkConfig) -> Result<Option<Self::Handler>, BadConfig> {
        if config.links.is_empty() {
            return Ok(None);
        }
        let checked = config.checked()?;
        #[cfg(feature = "source")]
        return Ok(Some(source::MavlinkSource::new(config, checked)));
        #[cfg(not(feature = "source"))]
        {
            drop(checked);
            Err(BadConfig::NotBuilt)
        }
    }
}
