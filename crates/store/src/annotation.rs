//! Annotations: notes of people at a time or for a span, about everything, some nodes or some instances.

use crate::{
    catalogue::error::CatalogueError,
    text::{BadText, check_lines, check_name},
};
use oasis_wire::quantity::Nanos;
use serde::{Deserialize, Serialize};

/// Most annotations of an archive.
pub const MAX_ANNOTATIONS: u64 = 100_000;
/// Longest text, in bytes.
pub const MAX_TEXT_BYTES: usize = 4 * 1024;
/// Most targets of an annotation.
pub const MAX_TARGETS: usize = 64;
/// Longest name of a node or an instance, in bytes.
const MAX_TARGET_BYTES: usize = 1024;

/// The target of an annotation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Node name.
    pub node: String,
    /// Instance name; none for the whole node.
    #[serde(default)]
    pub instance: Option<String>,
}

/// The content of an annotation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    /// Time, or start of the span.
    pub time: Nanos,
    /// End of the span; `None` for a single time.
    pub until: Option<Nanos>,
    /// The gap.
    pub text: String,
    /// Its targets; empty for everything.
    pub targets: Vec<Target>,
}

/// A stored annotation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Annotation {
    /// Its number.
    pub id: u64,
    /// Its content.
    #[serde(flatten)]
    pub note: Note,
    /// Its author.
    pub who: String,
    /// When it was written, on the DAC's clock.
    pub written: Nanos,
}

/// A position in the list of all annotations, which is ordered by time, then by number.
pub type AnnotationPosition = (Nanos, u64);

/// A filter for annotations.
#[derive(Debug, Clone, Default)]
pub struct AnnotationFilter {
    /// Not those that end earlier.
    pub from: Option<Nanos>,
    /// Only those that begin earlier.
    pub to: Option<Nanos>,
    /// Only those about this node, one of its instances, or everything.
    pub node: Option<String>,
    /// With a node: only those about this instance, the whole node, or everything.
    pub instance: Option<String>,
    /// Only those after this position.
    pub after: Option<AnnotationPosition>,
}

/// Errors of annotations.
#[derive(Debug, thiserror::Error)]
pub enum AnnotationError {
    /// An invalid text.
    #[error("{0}")]
    Text(#[from] BadText),
    /// The annotation ends before it begins.
    #[error("until ({until}) is before time ({time})")]
    Backwards {
        /// Begin.
        time: Nanos,
        /// End.
        until: Nanos,
    },
    /// A time that the catalogue cannot store.
    #[error("{0} is after the year 2262: times are nanoseconds since 1970")]
    TooLate(Nanos),
    /// Too many targets.
    #[error("an annotation has at most {MAX_TARGETS} nodes and instances, got {0}")]
    TooManyTargets(usize),
    /// Too many annotations.
    #[error("limit of {MAX_ANNOTATIONS} annotations reached: delete one first")]
    TooMany,
    /// No such number.
    #[error("no annotation with number {0}")]
    Unknown(u64),
    /// The catalogue.
    #[error("{0}")]
    Catalogue(#[from] CatalogueError),
}

impl From<rusqlite::Error> for AnnotationError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Catalogue(error.into())
    }
}

pub(crate) type Result<T> = std::result::Result<T, AnnotationError>;

/// Checks the content of an annotation.
pub fn check(note: &Note) -> Result<()> {
    if note.text.trim().is_empty() {
        return Err(BadText::Empty("text").into());
    }
    check_lines("text", &note.text, MAX_TEXT_BYTES)?;
    let until = note.until.unwrap_or(note.time);
    if until < note.time {
        return Err(AnnotationError::Backwards { time: note.time, until });
    }
    if i64::try_from(until.0).is_err() {
        return Err(AnnotationError::TooLate(until));
    }
    if note.targets.len() > MAX_TARGETS {
        return Err(AnnotationError::TooManyTargets(note.targets.len()));
    }
    for target in &note.targets {
        check_name("node", &target.node, MAX_TARGET_BYTES)?;
        let instance = target.instance.as_deref();
        instance.map_or(Ok(()), |instance| check_name("instance", instance, MAX_TARGET_BYTES))?;
    }
    Ok(())
}
