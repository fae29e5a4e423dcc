//! Any query is answered or refused.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oasis_fuzz::targets::sql;

fuzz_target!(|input: &[u8]| sql::run(input));
