//! Any stream of a node, with state from frame to frame, is taken or refused; its account adds up.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oasis_fuzz::targets::data_channel;

fuzz_target!(|input: &[u8]| data_channel::run(input));
