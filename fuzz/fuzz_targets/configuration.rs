//! Any configuration file gives settings, or an error that names the place.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oasis_fuzz::targets::configuration;

fuzz_target!(|input: &[u8]| configuration::run(input));
