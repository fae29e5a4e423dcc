//! Answers an editor's requests about files of rules: `oasis rules lsp` speaks the Language Server Protocol on standard input and output.
//!
//! [`Rules`] is a [`Language`](oasis_pdl_lsp::Language) for the server of PDL. It takes probe types and instances from a [`Source`]: PDL files, an archive or a
//! running DAC. It asks again when a file was saved, so that what has come meanwhile is known.
//!
//! ```
//! use oasis_pdl_lsp::{Language, Server};
//! use oasis_rules::EditorCatalog;
//! use oasis_rules_lsp::Rules;
//!
//! let rules = Rules::new(|| Ok(EditorCatalog::default()));
//! assert_eq!(rules.server_name(), "oasis rules lsp");
//! let _server = Server::new(rules);
//! ```

mod diagnostics;
mod documents;
mod rules;

pub use rules::{Rules, Source};
