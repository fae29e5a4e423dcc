//! Answers an editor's requests about PDL files: `oasis pdl lsp` speaks the Language Server Protocol on standard input and output.
//!
//! A [`Server`] takes one message and returns its answers; it knows no streams. Open documents lie over the disk
//! ([`Workspace`]), so that unsaved text counts, and every request is answered from their compilation. One file for each
//! request: `hover`, `definition`, `completion`, `symbols`, `diagnostics`.

mod completion;
mod context;
mod declared;
mod definition;
mod diagnostics;
mod frame;
mod hover;
mod serve;
mod server;
mod size;
mod symbols;
mod text;
mod uri;
mod workspace;

pub use serve::serve;
pub use server::{Server, Step};
pub use workspace::Workspace;
