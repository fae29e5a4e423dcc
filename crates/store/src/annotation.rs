//! Annotations: what people note at a time or of a span, about everything, some nodes or some instances.

use crate::{
    catalogue::error::CatalogueError,
    text::{BadText, check_lines, check_name},
};
use oasis_wire::quantity::Nanos;
use serde::{Deserialize, Serialize};

/// Most annotations of an archive.
pub const MOST_ANNOTATIONS: u64 = 100_000;
/// Longest text, in bytes.
pub const LONGEST_TEXT: usize = 4 * 1024;
/// Most nodes and instances that one is about.
pub const MOST_TARGETS: usize = 64;
/// Longest name of a node or an instance, in bytes.
const LONGEST_TARGET: usize = 1024;

/// What an annotation is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Node name.
    pub node: String,
    /// Instance name; none for the whole node.
    #[serde(default)]
    pub instance: Option<String>,
}

/// What to note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    /// When, or from when on.
    pub time: Nanos,
    /// Until when; none for a moment.
    pub until: Option<Nanos>,
    /// What.
    pub text: String,
    /// About what; empty for everything.
    pub targets: Vec<Target>,
}

/// A note that was written down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Annotation {
    /// Its number.
    pub id: u64,
    /// What it says.
    #[serde(flatten)]
    pub note: Note,
    /// Its author.
    pub who: String,
    /// When it was written, on the DAC's clock.
    pub written: Nanos,
}

/// A place in the list of all annotations, which is ordered by time, then by number.
pub type Place = (Nanos, u64);

/// Which annotations to list, in the order of their times.
#[derive(Debug, Clone, Default)]
pub struct AnnotationFilter {
    /// Those that end no earlier.
    pub from: Option<Nanos>,
    /// Those that begin earlier.
    pub to: Option<Nanos>,
    /// Those about this node, one of its instances, or everything.
    pub node: Option<String>,
    /// Of a node: those about this instance, the whole node, or everything.
    pub instance: Option<String>,
    /// Those behind this place.
    pub after: Option<Place>,
}

/// Why an annotation is not written or deleted.
#[derive(Debug, thiserror::Error)]
pub enum AnnotationError {
    /// A text is not taken.
    #[error("{0}")]
    Text(#[from] BadText),
    /// It ends before it begins.
    #[error("until is {until}, before time, {time}: a span ends no earlier than it begins")]
    Backwards {
        /// Begin.
        time: Nanos,
        /// End.
        until: Nanos,
    },
    /// A time that the catalogue has no room for.
    #[error("{0} is beyond the year 2262: times are nanoseconds since 1970")]
    TooLate(Nanos),
    /// About more than allowed.
    #[error("an annotation is about {MOST_TARGETS} nodes and instances at most, and these are {0}")]
    TooManyTargets(usize),
    /// More annotations than allowed.
    #[error("there are {MOST_ANNOTATIONS} annotations, as many as allowed: delete one first")]
    TooMany,
    /// None has this number.
    #[error("no annotation has the number {0}")]
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

/// Refuses what no annotation may have.
pub fn check(note: &Note) -> Result<()> {
    if note.text.trim().is_empty() {
        return Err(BadText::Empty("text").into());
    }
    check_lines("text", &note.text, LONGEST_TEXT)?;
    let until = note.until.unwrap_or(note.time);
    if until < note.time {
        return Err(AnnotationError::Backwards { time: note.time, until });
    }
    if i64::try_from(until.0).is_err() {
        return Err(AnnotationError::TooLate(until));
    }
    if note.targets.len() > MOST_TARGETS {
        return Err(AnnotationError::TooManyTargets(note.targets.len()));
    }
    for target in &note.targets {
        check_name("node", &target.node, LONGEST_TARGET)?;
        let instance = target.instance.as_deref();
        instance.map_or(Ok(()), |instance| check_name("instance", instance, LONGEST_TARGET))?;
    }
    Ok(())
}
