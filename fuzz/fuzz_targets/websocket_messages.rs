//! Any messages of a native client are answered, or close its connection.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oasis_fuzz::targets::websocket_messages;

fuzz_target!(|input: &[u8]| websocket_messages::run(input));
