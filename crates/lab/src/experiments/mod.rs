//! The experiments, a folder each. To add one: its declaration and its [`Method`], and a line here.
//!
//! They share the processes of a load ([`fleet`]), the watch over processes ([`monitor`]), Node.js ([`nodejs`]), and what of it is recorded ([`live`]).

mod fleet;
pub mod frizelle;
mod live;
mod monitor;
pub mod mueller;
mod nodejs;

use crate::experiment::Method;

/// Every experiment.
pub const EXPERIMENTS: &[&dyn Method] = &[&frizelle::Frizelle, &mueller::Mueller];
