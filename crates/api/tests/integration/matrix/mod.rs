//! Every route and every message of the WebSockets, by principals of all kinds: who may do what, exactly.
//!
//! The routes come from the route table, so a new one is asked for by itself, and fails until [`expected`] has it. What each needs is written there a second
//! time; who has it comes from a model that reads the rules as texts.

mod accounts;
mod alarms;
mod document;
mod eisa;
mod expected;
mod headers;
mod layouts;
mod people;
mod routes;
mod session;
mod tem;
mod websocket;
mod world;
