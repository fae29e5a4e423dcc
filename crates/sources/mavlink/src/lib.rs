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

#[cfg(not(feature = "source"))]
use oasis_handler::Failure;
use oasis_handler::{ConfiguredHandler, Context, Handler};
use serde_json::Value;

/// Receives MAVLink from vehicles.
#[derive(Debug)]
pub struct Mavlink {
    #[cfg(feature = "source")]
    source: source::MavlinkSource,
}

impl ConfiguredHandler for Mavlink {
    type Config = MavlinkConfig;
    type Error = BadConfig;

    fn configured(config: MavlinkConfig) -> Result<Option<Self>, BadConfig> {
        if config.links.is_empty() {
            return Ok(None);
        }
        let checked = config.checked()?;
        #[cfg(feature = "source")]
        return Ok(Some(Self { source: source::MavlinkSource::new(config, checked) }));
        #[cfg(not(feature = "source"))]
        {
            drop(checked);
            Err(BadConfig::NotBuilt)
        }
    }
}

#[cfg(feature = "source")]
impl Handler for Mavlink {
    fn name(&self) -> &'static str {
        "mavlink"
    }

    fn run(&self, context: Context) -> Result<(), oasis_handler::Failure> {
        self.source.run(&context)
    }

    fn state(&self) -> Value {
        self.source.state_of_handler()
    }

    fn problem(&self) -> Option<String> {
        self.source.problem()
    }

    fn warnings(&self) -> Vec<String> {
        self.source.warnings()
    }
}

#[cfg(not(feature = "source"))]
impl Handler for Mavlink {
    fn name(&self) -> &'static str {
        "mavlink"
    }

    fn run(&self, _: Context) -> Result<(), Failure> {
        Err(Failure(BadConfig::NotBuilt.to_string()))
    }

    fn state(&self) -> Value {
        Value::Null
    }
}
