//! Every route and every message of the WebSockets, by principals of all kinds: who may do what, exactly.
//!
//! The routes come from the route table, so a new one is here by itself. What is expected comes from a model that reads the rules as texts.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test says what it expects by unwrapping"
)]

mod people;
mod routes;
mod session;
mod websocket;
mod world;
