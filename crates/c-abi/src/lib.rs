//! The C interface of the EI node (`sdk/c/include/oasis.h`): nodes and probes ([`node`], [`options`], [`probe`]), log
//! records ([`logger`]), native batches ([`batch`]).
//!
//! No panic unwinds into the caller: a function returns a [`status::Status`], and `oasis_last_error` gives details.
//! Pointers are trusted, because C cannot check them; bytes and texts are not.

mod arguments;
mod batch;
mod log;
mod logger;
mod node;
mod options;
mod probe;
mod recorder;
mod severity;
mod status;
