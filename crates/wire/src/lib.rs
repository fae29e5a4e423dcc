//! The bytes of OASIS.
#![no_std]
extern crate alloc;

pub mod batch;
pub mod cdr;
pub mod eisa;
pub mod quantity;
pub mod reader;
pub mod sample;
pub mod schema;
pub mod value;
mod varint;
