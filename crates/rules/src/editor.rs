//! Functions of editors: completions at a place, and the description of the item there. The text may be unfinished.

mod clause;
mod completion;
mod context;
mod hover;
mod names;
mod outline;

pub use completion::{Completion, CompletionKind, Completions, complete};
pub use hover::{Hover, hover};
pub use names::{EditorCatalog, KnownInstance};
pub use outline::{OutlineItem, outline};
