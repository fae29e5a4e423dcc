//! The experiments, a folder each. To add one: its declaration and its [`Method`], and a line here.
//!
//! They share the processes of a load ([`fleet`]), the watch over processes ([`monitor`]), Node.js ([`crate::nodejs`]), browsers ([`browser`], [`devtools`]) with pages ([`site`]), slow
//! ways to them ([`relay`]), and what of it is recorded ([`live`]).

mod browser;
mod devtools;
mod fleet;
pub mod frizelle;
mod live;
pub mod million;
mod monitor;
pub mod mueller;
pub mod oasis2013;
mod relay;
mod site;
pub mod windcomm;

use crate::experiment::Method;

/// Every experiment.
pub const EXPERIMENTS: &[&dyn Method] =
    &[&frizelle::Frizelle, &million::Million, &mueller::Mueller, &oasis2013::Oasis2013, &windcomm::WindComm];
