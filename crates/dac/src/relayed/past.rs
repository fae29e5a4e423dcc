//! Questions about the past of a relayed instance, which its upstream answers.

use oasis_wire::{
    gap::Gap,
    loss::Cause,
    quantity::{Offset, PortablePosition, Position},
    schema::ProbeType,
};
use std::ops::Range;
use tokio::sync::mpsc;

/// Position at which an answer begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PastStart {
    /// At the first sample that is not older, nanoseconds since 1970 on the node's clock.
    Time(u64),
    /// At this position of an upstream.
    Position(Position),
    /// At the portable position, or at the other one if the upstream knows that.
    Resumed(Option<Position>, PortablePosition),
    /// At the oldest of the newest samples of a time.
    Newest {
        /// The beginning of the time.
        from: u64,
        /// Number of these samples.
        samples: u64,
    },
}

/// A question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PastQuestion {
    /// Position at which the answer begins.
    pub start: PastStart,
    /// Samples of this time and later are not wanted.
    pub to: u64,
    /// Number of points that summarize all samples; none for the samples themselves.
    pub points: Option<u32>,
}

/// A question of any kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// Samples, or points.
    Samples(PastQuestion),
    /// From when to when samples are stored.
    Stored,
}

/// A part of an answer, in the words of the upstream.
#[derive(Debug, Clone, PartialEq)]
pub enum PastMessage {
    /// Position at which the samples begin.
    Begin(Position),
    /// A native batch.
    Batch(Vec<u8>),
    /// Gaps before the batch that follows, which never reached the upstream.
    GapsBefore(Vec<Gap>),
    /// Missing samples; their offsets, if they are known.
    Gap(Option<Range<Offset>>, Cause),
    /// Offsets count from here on.
    Epoch(Position),
    /// The samples that follow have another type.
    Type(Box<ProbeType>),
    /// Points, as JSON.
    Points(String),
    /// Times of the oldest and the newest stored sample; none if nothing is stored.
    Stored(Option<(u64, u64)>),
    /// There is nothing more.
    End,
    /// The upstream did not answer to the end.
    Failed(String),
}

/// A question on its way to an upstream.
#[derive(Debug)]
pub struct ForwardedQuestion {
    /// Node name.
    pub node: String,
    /// Instance name.
    pub instance: String,
    /// The question.
    pub question: Question,
    /// Receives the answer. It is closed when the answer is not wanted any more.
    pub answer: mpsc::Sender<PastMessage>,
}
