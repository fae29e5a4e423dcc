//! The codecs from outside.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test says what it expects by unwrapping")]

mod codec;
mod loss;
mod size;
