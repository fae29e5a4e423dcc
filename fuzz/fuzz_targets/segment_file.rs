//! Any records of a segment file are read, or reported as damage.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oasis_fuzz::targets::segment_file;

fuzz_target!(|input: &[u8]| segment_file::run(input));
