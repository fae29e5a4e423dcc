//! The TEM (test and execution manager): a naming service for active DACs, and the main entry point for tools.
//!
//! Each DAC sends a [`Heartbeat`] twice a second under its [name](DacName). The [`Directory`] keeps one [`Member`] for each name: addresses, health, load
//! and the names of its nodes. It decides who has a name, which members are late, and what changed since a revision. [`order`] sorts members for a node.
//!
//! The directory reads no clock and no socket: callers pass the time of their own steady clock. A member is judged by whether its heartbeat number moved
//! in that time, so no clock of another host counts.
//!
//! ```
//! use oasis_tem::{Directory, Heartbeat, Liveness, Limits};
//! use std::time::Duration;
//!
//! let mut directory = Directory::new(Limits::default());
//! let heartbeat: Heartbeat = serde_json::from_str(r#"{
//!     "epoch": "00000000000000aa", "beat": 1, "doors": "http://192.0.2.7:7070", "channel": "192.0.2.7:7071",
//!     "software": "oasis 0.1.0", "health": "ok", "names_revision": 1, "names": {"online": ["plant-7"]}
//! }"#)?;
//! directory.beat(&"hall-1".parse()?, heartbeat, Duration::ZERO)?;
//! assert_eq!(directory.holders("plant-7").next().map(|member| member.doors()), Some("http://192.0.2.7:7070"));
//!
//! // Nothing more comes. The owner of the directory reports the time four times a second.
//! for quarter in 1..=8 {
//!     directory.advance(Duration::from_millis(250) * quarter);
//! }
//! assert_eq!(directory.members().next().map(|member| member.liveness()), Some(Liveness::Late));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// Routes and schemas describe themselves only for the test of the OpenAPI document.
#[cfg(not(feature = "openapi"))]
extern crate oasis_no_openapi as utoipa;

mod attachment;
mod directory;
mod double;
mod heartbeat;
mod kind;
mod limits;
mod line;
mod member;
mod name;
mod observed;
pub mod order;
mod other_page;
mod removals;
mod view;

pub use attachment::{Attachment, MovedNode};
pub use directory::{Accepted, Beaten, Changes, Counters, Directory, Refusal};
pub use double::{Double, one_of_each_run};
pub use heartbeat::{Health, Heartbeat, HeartbeatError, Load, NodeNames};
pub use kind::Kind;
pub use limits::{DOUBLE_AFTER, FORGET_AFTER, HEARTBEAT, LATE_AFTER, Limits, MAX_HEARTBEAT_BYTES};
pub use line::{Beat, Line};
pub use member::{Liveness, Member};
pub use name::{DacName, DacNameError};
pub use other_page::{MAX_OTHER_PAGES, OtherPage};
pub use view::{DacView, TemEntry, TemView};
