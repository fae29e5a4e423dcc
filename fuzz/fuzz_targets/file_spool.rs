//! Any file spool is read, or reported as damage.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oasis_fuzz::targets::file_spool;

fuzz_target!(|input: &[u8]| file_spool::run(input));
