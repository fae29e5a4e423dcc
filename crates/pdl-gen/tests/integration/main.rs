//! Code for PDL files, and PDL for code.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test says what it expects by unwrapping")]

mod c;
mod c99;
mod compiler;
mod cpp;
mod derived;
mod golden;
mod idl;
mod infer;
mod primitive_types;
mod python;
mod rust_code;
mod rust_samples;
mod shapes;
mod typescript;
