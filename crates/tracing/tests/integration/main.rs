//! Programs under the layer.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

mod dac;
mod layer;
