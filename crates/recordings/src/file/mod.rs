//! Files of recordings, as `oasis import` and a running DAC read them.
//!
//! [`OpenedRecording::open`] unpacks a file or folder and finds its format. [`OpenedRecording::describe`] counts its samples, and [`OpenedRecording::add`] adds
//! them to an [`crate::import::Import`]. A [`Watch`] receives progress and notes, and can cancel.

mod adding;
mod choices;
mod description;
mod names;
mod opened;
mod reading;
mod unpacked;
mod watch;

pub use adding::no_samples;
pub use choices::{BadChoice, Choices};
pub use description::{FileDescription, FindingDescription, MissingSamples, SeriesDescription};
pub use names::{default_name, of_recording, without_compression};
pub use opened::{OpenedRecording, RecordingOptions, UnpackBounds};
pub use reading::read;
pub use watch::{Cancelled, Note, Step, Watch};

/// Returns an error with its causes as one text. Omits causes that it already contains.
pub fn explained(error: &anyhow::Error) -> String {
    error.chain().skip(1).map(ToString::to_string).fold(error.to_string(), |said, cause| {
        if said.contains(&cause) { said } else { format!("{said}: {cause}") }
    })
}
