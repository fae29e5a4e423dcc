//! A recorded node that speaks the data channel: plays samples of an archive through the whole stack as if they were live.
//!
//! A [`Playback`] has the clock and the nodes. A [`Stage`] is one node that is played back, a [`Track`] one of its instances. Samples
//! keep their values and sequence numbers; their times move to now, and closer together at a greater [`Speed`]. Like a node, a stage
//! keeps unacknowledged samples in a bounded queue ([`oasis_probe::outgoing`]) and sends it again over the next connection
//! ([`oasis_probe::link`]); it waits for a DAC that disconnects.
//!
//! ```no_run
//! use oasis_store::History;
//! use oasis_recordings::replay::{Dac, Playback, Stage, Track};
//! use std::{path::Path, rc::Rc, sync::atomic::AtomicBool};
//!
//! let history = History::open(Path::new("samples"))?;
//! let track = Track::open(&history, "plant", "tank", 0..u64::MAX)?.ok_or("nothing is recorded of plant/tank")?;
//! let dac = Rc::new(Dac::at("127.0.0.1:7071"));
//! let stages = vec![Stage::new(&dac, "plant", vec![track])];
//! let has_stopped = AtomicBool::new(false);
//! let mut playback = Playback::new(stages, "10".parse()?, &has_stopped, |event| eprintln!("{event:?}"));
//! playback.play(false)?;
//! println!("{} samples", playback.played().samples);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod link;
mod on_air;
mod outbox;
mod playback;
mod speed;
mod stage;
mod track;

pub use error::ReplayError;
pub use link::{Dac, LinkError};
pub use outbox::ReplayTotals;
pub use playback::{Event, Playback};
pub use speed::Speed;
pub use stage::{Stage, is_replay, replayed_name};
pub use track::{RecordedSample, Track};
