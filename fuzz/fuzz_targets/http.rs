//! Any request is answered without an internal error.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oasis_fuzz::targets::http;

fuzz_target!(|input: &[u8]| http::run(input));
