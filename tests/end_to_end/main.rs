//! Real processes and real sockets, without a browser (see `tests/browser`).

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test says what it expects by unwrapping")]

mod absent_values;
mod access;
mod api;
mod archive;
mod archive_commands;
mod archive_gone;
mod attacks_http;
mod audit;
mod audit_log;
mod backup;
#[cfg(feature = "can")]
mod can;
mod causes;
mod command_line;
mod commands;
#[cfg(feature = "dds")]
mod dds;
mod declared;
mod delivery;
mod demand;
mod eisa_client;
mod environment;
mod failover;
mod file_spool;
mod first_minute;
mod fleets;
mod followed_accounts;
mod forget;
mod gateway;
mod harness;
mod hostile_input;
mod images;
#[cfg(feature = "influxdb")]
mod influxdb;
mod invisible;
mod kept_settings;
mod lab;
mod large_registry;
mod live_rules;
mod logging;
mod malformed;
#[cfg(feature = "mavlink")]
mod mavlink;
mod mcp;
#[cfg(feature = "mdns")]
mod mdns;
#[cfg(feature = "mqtt")]
mod mqtt;
mod mqtt_kills;
#[cfg(all(feature = "mqtt", feature = "mqtt-publish"))]
mod mqtt_publish;
mod native_client;
#[cfg(feature = "nats")]
mod nats;
mod node_identity;
mod notify;
mod offline;
#[cfg(feature = "offload")]
mod offload;
#[cfg(feature = "oidc")]
mod openid;
mod openmetrics;
#[cfg(feature = "otlp")]
mod otlp;
mod otlp_export;
mod overhead;
mod package;
mod pdl_lsp;
mod pdl_tools;
#[cfg(feature = "postgresql")]
mod postgresql;
#[cfg(feature = "postgresql-protocol")]
mod postgresql_protocol;
#[cfg(feature = "postgresql-protocol")]
mod postgresql_protocol_hostile;
#[cfg(feature = "postgresql")]
mod postgresql_refusals;
#[cfg(feature = "postgresql")]
mod postgresql_shared;
#[cfg(feature = "postgresql")]
mod postgresql_tls;
mod previous_release;
#[cfg(feature = "prometheus")]
mod prometheus;
mod ready_made;
mod recorder;
mod recordings;
mod registry_deltas;
mod relay;
#[cfg(feature = "remote-write")]
mod remote_write;
mod replay;
mod replay_again;
mod rules;
mod rules_move;
mod rules_of_several_dacs;
mod rules_of_several_nodes;
mod rules_over_http;
mod sdk;
mod setup;
mod shards;
mod sign_in;
mod slow_link;
#[cfg(feature = "mqtt")]
mod sparkplug;
mod sql;
mod sql_over_http;
mod starvation;
mod stopped_dacs;
mod systemd;
mod tem;
mod tem_load;
mod tems;
mod test_runs;
mod text_doors;
mod tls;
mod tls_peers;
mod two_processes;
mod udp;
mod websocket_past;
