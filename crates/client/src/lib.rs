//! A client of DACs and TEMs over HTTP: which DAC a tool or a node talks to. Synchronous.
//!
//! [`Tems`] are the configured TEMs. They are asked for a [`TemList`]: the DACs that they know. A tool chooses one of them by its name or by
//! its nodes, and talks to its [`Api`]. A node has [`NodeDacs`]: a thread keeps the list of its DACs new, without blocking its callers.
//!
//! ```no_run
//! use oasis_client::{Api, TemAddresses, Tems};
//!
//! let addresses: TemAddresses = "http://192.0.2.1:7000,http://192.0.2.2:7000".parse()?;
//! let found = Tems::new(addresses, None).fetch(None)?;
//! let dac = found.list.holder_of_all(["plant-7"])?;
//! let health = Api::at(&found.list.server(dac)?)?.get("/health", &[])?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod address;
mod api;
mod error;
mod list;
#[cfg_attr(not(feature = "mdns"), path = "no_mdns.rs")]
mod mdns;
mod memory;
mod node_dacs;
mod tem_addresses;
mod tems;
pub mod token;
pub mod trust;

pub use address::{DEFAULT_URL, DacAddress, Server, data_channel};
pub use api::{Api, HostToken};
pub use error::{ClientError, Refusal};
pub use list::{TemList, similar};
pub use node_dacs::NodeDacs;
pub use tem_addresses::{TemAddress, TemAddressError, TemAddresses};
pub use tems::{FetchedTems, Tems};
