//! The target languages.

use crate::{c, c99, cpp, idl, json_schema, python, rust, typescript};
use oasis_pdl::{Diagnostic, Model};

/// A target of `oasis pdl compile`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// For the headers in `sdk/c`.
    C,
    /// For devices without an operating system, in `sdk/embedded`.
    C99,
    /// For the headers in `sdk/cpp`.
    Cpp,
    /// For the IDL compiler of a DDS.
    Idl,
    /// The schemas that travel with registration.
    Json,
    /// For the package in `sdk/python`.
    Python,
    /// For the crate `oasis-probe`.
    Rust,
    /// For the package in `sdk/typescript`.
    TypeScript,
}

impl Language {
    /// All of them, by the names they have on the command line.
    pub const ALL: [(&'static str, Self); 8] = [
        ("c", Self::C),
        ("c99", Self::C99),
        ("cpp", Self::Cpp),
        ("idl", Self::Idl),
        ("json", Self::Json),
        ("python", Self::Python),
        ("rust", Self::Rust),
        ("typescript", Self::TypeScript),
    ];

    /// The file for all that PDL files declare: `engine.pdl` becomes `engine.rs`.
    pub fn file_name(self, stem: &str) -> String {
        match self {
            Self::C | Self::C99 => format!("{stem}.h"),
            Self::Cpp => format!("{stem}.hpp"),
            Self::Idl => format!("{stem}.idl"),
            Self::Json => format!("{stem}.json"),
            Self::Python => format!("{}.py", python::module_name(stem)),
            Self::Rust => format!("{stem}.rs"),
            Self::TypeScript => format!("{stem}.ts"),
        }
    }

    /// Returns a diagnostic for each declaration that the language cannot express.
    pub fn check(self, model: &Model) -> Vec<Diagnostic> {
        match self {
            Self::C99 => c99::check(model),
            Self::Idl => idl::check(model),
            Self::C | Self::Cpp | Self::Json | Self::Python | Self::Rust | Self::TypeScript => Vec::new(),
        }
    }

    /// Returns the content of that file. `from` names the PDL files in its first line.
    pub fn generate(self, model: &Model, from: &str) -> String {
        match self {
            Self::C => c::generate(model, from),
            Self::C99 => c99::generate(model, from),
            Self::Cpp => cpp::generate(model, from),
            Self::Idl => idl::generate(model, from),
            Self::Json => json_schema::generate(model),
            Self::Python => python::generate(model, from),
            Self::Rust => rust::generate(model, from),
            Self::TypeScript => typescript::generate(model, from),
        }
    }
}
