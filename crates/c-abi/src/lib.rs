//! C's door to the EI node (`sdk/c/include/oasis.h`): nodes and probes ([`node`], [`options`], [`probe`]), log records ([`logger`]), native batches ([`batch`]).
//!
//! Nothing that happens here unwinds into the caller: a function answers with a [`status::Status`], and `oasis_last_error` says more.
//! Pointers are trusted, as C has no other way; bytes and texts are not.

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
