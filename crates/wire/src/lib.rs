//! The bytes of OASIS.
#![no_std]
extern crate alloc;

pub mod quantity;
pub mod schema;
