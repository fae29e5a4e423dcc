//! Back ends of the Probe Definition Language: from its [`oasis_pdl::Model`] to code and schemas. One file a target.

pub mod build;
pub mod c;
pub mod cpp;
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
