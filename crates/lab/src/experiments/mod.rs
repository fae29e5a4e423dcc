//! The experiments, a folder each. To add one: its declaration and its [`Method`], and a line here.

pub mod frizelle;

use crate::experiment::Method;

/// Every experiment.
pub const EXPERIMENTS: &[&dyn Method] = &[&frizelle::Frizelle];
