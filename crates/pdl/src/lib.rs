//! The Probe Definition Language: declares measurements once, for all languages.
//!
//! Text becomes a [`Model`] in four steps, each a file: tokens (`lexer`), declarations ([`ast`], `parser`), files and includes
//! ([`compile`]), names looked up (`names`). Compilation continues after an error: a [`Report`] has all [`Diagnostic`]s and
//! all of the model that could be compiled. The compiler opens files only through its [`Loader`].
//! [`format()`] formats a text from its tokens alone.
//!
//! ```
//! use std::{collections::HashMap, path::PathBuf};
//!
//! let text = "[uuid(0f3c7d52-9c7e-4a57-8a9f-62c1f1b8c7aa)] probe Engine { real64 rpm; };";
//! let files = HashMap::from([(PathBuf::from("engine.pdl"), text.to_owned())]);
//! let report = oasis_pdl::compile(&["engine.pdl".into()], &[], &files);
//! assert!(report.is_ok());
//! assert_eq!(report.model.probes[0].metrics[0].name, "rpm");
//! ```

pub mod ast;
mod columns;
mod compatibility;
mod compile;
mod cycles;
mod diagnostic;
mod enums;
mod expansion;
mod format;
mod lexer;
mod limits;
pub mod model;
mod names;
mod number;
mod parser;
mod scope;
mod source;

pub use compatibility::{Change, ChangeKind, Class, compare};
pub use compile::{Report, compile, parse};
pub use diagnostic::{Code, Diagnostic, ErrorCode, nearest};
pub use format::format;
pub use lexer::{Token, tokens};
pub use model::Model;
pub use oasis_wire::unit::{Factor, UnitError, factors as unit_factors, symbols as unit_symbols};
pub use source::{Disk, FileId, Loader, Reference, Sources, Span, normalized};
