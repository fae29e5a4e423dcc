//! Messages, parameters and SQL of clients of the PostgreSQL protocol.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| oasis_postgresql_protocol::parse_all(bytes));
