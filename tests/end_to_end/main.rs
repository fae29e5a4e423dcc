//! Real processes and real sockets, without a browser (see `tests/browser`).

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test says what it expects by unwrapping")]

mod access;
mod api;
mod archive;
mod archive_commands;
mod archive_gone;
mod audit;
mod command_line;
mod commands;
mod delivery;
mod demand;
mod eisa_client;
mod file_spool;
mod harness;
mod lab;
mod large_registry;
mod logging;
mod malformed;
mod native_client;
mod offline;
mod openmetrics;
mod overhead;
mod package;
mod pdl_lsp;
mod pdl_tools;
mod postgresql;
mod postgresql_refusals;
mod postgresql_tls;
mod ready_made;
mod recipes;
mod recorder;
mod recordings;
mod registry_deltas;
mod replay;
mod replay_again;
mod sdk;
mod shards;
mod sql;
mod starvation;
mod systemd;
mod test_runs;
mod text_doors;
mod two_processes;
mod udp;
mod websocket_past;
