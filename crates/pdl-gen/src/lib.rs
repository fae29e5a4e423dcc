//! Back ends of the Probe Definition Language: from its [`oasis_pdl::Model`] to code and schemas. One file a target.
//!
//! ```
//! use oasis_pdl_gen::Language;
//! use std::{collections::HashMap, path::PathBuf};
//!
//! let text = "[uuid(0f3c7d52-9c7e-4a57-8a9f-62c1f1b8c7aa)] probe Engine { real64 rpm; };";
//! let files = HashMap::from([(PathBuf::from("engine.pdl"), text.to_owned())]);
//! let report = oasis_pdl::compile(&["engine.pdl".into()], &[], &files);
//! assert!(report.is_ok());
//!
//! let rust = Language::Rust.generate(&report.model, "engine.pdl");
//! assert!(rust.contains("pub struct Engine {") && rust.contains("pub rpm: f64"));
//! let python = Language::Python.generate(&report.model, "engine.pdl");
//! assert!(python.contains("class Engine"));
//! ```

pub mod build;
pub mod c;
pub mod c99;
pub mod cpp;
pub mod idl;
pub mod infer;
pub mod json_schema;
mod language;
mod names;
mod order;
pub mod python;
pub mod rust;
mod templates;
mod text;
pub mod typescript;

pub use language::Language;
