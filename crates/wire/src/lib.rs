//! The bytes of OASIS.
#![no_std]
extern crate alloc;

pub mod schema;
