//! Any bytes of a line, and any whole frames of a device, with state from frame to frame: its account adds up.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oasis_fuzz::targets::device_link;

fuzz_target!(|input: &[u8]| device_link::run(input));
