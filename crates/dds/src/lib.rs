//! DDS as OASIS uses it: the settings, the form of samples on topics, and with the feature `participant` the participant that writes them.
//!
//! A **topic** ([`TopicName`]) belongs to a probe type, a **sample** on it is the CDR of the struct that `oasis pdl compile --lang idl` writes for that type,
//! and its **key** ([`InstanceKey`]) is node and instance. The **channel** (`channel`, with that feature) carries the data channel of nodes, and the
//! **handler** (`handler`, with the feature of that name) publishes samples of the DAC.
//! `docs/guides/use-dds.md` is the guide.
//!
//! ```
//! use oasis_dds::TopicName;
//!
//! let topic = TopicName::of("Plant::Line7::Line");
//! assert_eq!((&*topic.name, &*topic.type_name), ("Plant/Line7/Line", "Plant::Line7::LineSample"));
//! ```

#[cfg(feature = "participant")]
pub mod channel;
mod config;
#[cfg(feature = "handler")]
pub mod handler;
#[cfg(feature = "participant")]
mod participant;
mod sample;
mod topic_name;

pub use config::{BadDds, DdsConfig};
#[cfg(feature = "participant")]
pub use participant::{CLEANING, DdsError, Match, Participant, Writer};
pub use sample::{InstanceKey, encode};
pub use topic_name::{TopicName, same_layout};
