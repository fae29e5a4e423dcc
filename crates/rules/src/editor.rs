//! What editors show: completions at a place, and the description of what stands there. The text may be unfinished.

mod clause;
mod completion;
mod context;
mod hover;
mod names;
mod outline;

pub use completion::{Completion, CompletionKind, Completions, complete};
pub use hover::{Hover, hover};
pub use names::{KnownInstance, Surroundings};
pub use outline::{Outlined, outline};
