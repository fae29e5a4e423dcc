//! A source that receives frames of CAN interfaces (SocketCAN of Linux), decoded by CAN databases (DBC).
//!
//! In the order of a frame: `socket` reads it, `frame` parses it, `decoder` makes a sample of its signals, and `source` runs a thread for each interface.
//! Sources: <https://docs.kernel.org/networking/can.html>, `linux/can.h`. `docs/guides/receive-can.md` is the guide. Without the feature `source`, settings
//! that enable it are refused.
//!
//! ```
//! use oasis_can::{Can, CanConfig};
//! use oasis_handler::ConfiguredHandler;
//!
//! assert!(Can::configured(CanConfig::default())?.is_none(), "it is enabled by an interface");
//! # Ok::<(), oasis_can::BadConfig>(())
//! ```

mod config;
#[cfg(feature = "source")]
mod decoder;
#[cfg(feature = "source")]
mod frame;
#[cfg(feature = "source")]
mod socket;
#[cfg(feature = "source")]
mod source;

#[cfg(test)]
#[cfg(feature = "source")]
mod tests;

pub use config::{BadConfig, CanConfig};

#[cfg(not(feature = "source"))]
use oasis_handler::Failure;
use oasis_handler::{ConfiguredHandler, Context, Handler};
use serde_json::Value;

/// Receives frames of CAN interfaces.
#[derive(Debug)]
pub struct Can {
    #[cfg(feature = "source")]
    source: source::CanSource,
}

impl ConfiguredHandler for Can {
    type Config = CanConfig;
    type Error = BadConfig;

    fn configured(config: CanConfig) -> Result<Option<Self>, BadConfig> {
        if config.interfaces.is_empty() {
            return Ok(None);
        }
        let origins = config.origins()?;
        #[cfg(feature = "source")]
        {
            let messages = decoder::Messages::read(&config.dbc).map_err(BadConfig::Database)?;
            Ok(Some(Self { source: source::CanSource::new(config, origins, messages) }))
        }
        #[cfg(not(feature = "source"))]
        {
            drop(origins);
            Err(BadConfig::NotBuilt)
        }
    }
}

#[cfg(feature = "source")]
impl Handler for Can {
    fn name(&self) -> &'static str {
        "can"
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
impl Handler for Can {
    fn name(&self) -> &'static str {
        "can"
    }

    fn run(&self, _: Context) -> Result<(), Failure> {
        Err(Failure(BadConfig::NotBuilt.to_string()))
    }

    fn state(&self) -> Value {
        Value::Null
    }
}
