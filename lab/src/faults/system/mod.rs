//! Processes of a scenario: a DAC and nodes, on files and addresses of their own.

pub mod clock;
pub mod dac;
pub mod disk;
pub mod host;
pub mod http;
pub mod journal;
pub mod link;
pub mod network;
pub mod node;
pub mod panics;
pub mod peer;
pub mod postgres;
mod preload;
pub mod process;
pub mod program;
pub mod source;
