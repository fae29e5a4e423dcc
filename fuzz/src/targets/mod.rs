//! Parsers of outside input that have state, or need a whole DAC or archive around them. Each function takes any bytes.
//!
//! `tests/end_to_end/hostile_input` includes this file: the seeds, and variants of them, run in the normal suite too.

pub mod configuration;
pub mod data_channel;
pub mod device_link;
pub mod file_spool;
pub mod http;
pub mod segment_file;
pub mod sql;
pub mod websocket_messages;
