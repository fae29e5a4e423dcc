//! Compiles texts and returns the diagnostics.

use oasis_pdl::{Report, compile};
use std::{collections::HashMap, path::PathBuf};

/// One text, as a file.
pub fn compiled(text: &str) -> Report {
    let files = HashMap::from([(PathBuf::from("example.pdl"), text.to_owned())]);
    compile(&["example.pdl".into()], &[], &files)
}

/// Codes and messages.
pub fn reported(text: &str) -> Vec<(String, String)> {
    compiled(text).diagnostics.iter().map(|wrong| (wrong.code.name(), wrong.message.clone())).collect()
}

/// One code and message.
pub fn one(code: &str, message: &str) -> Vec<(String, String)> {
    vec![(code.into(), message.into())]
}
