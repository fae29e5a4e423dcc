//! The gateway's side of a device without its line and its DAC, for fuzz targets, which play both.

pub use crate::{
    device::{Device, FrameRefusal, Moment, SharedDevices},
    sessions::{Sessions, SharedSessions},
    stats::LineStats,
    uplink::Uplink,
};
pub use oasis_probe::forward::{ForwardedCommand, Missing, NewBatch, Session};
