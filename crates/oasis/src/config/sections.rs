//! All sections of the configuration file. `fuzz` includes this file, so it names nothing of its crate.

use anyhow::Context;
use oasis_access::AccessConfig;
use oasis_dac::config::{ChannelConfig, LogConfig, RelayConfig, TemConfig, TlsConfig};
use oasis_doors::DoorsConfig;
use oasis_ei_node::NodeSettings;
use oasis_gateway::GatewayConfig;
use oasis_handler::{ConfiguredHandler, Handler};
use oasis_notify::NotifyConfig;
use oasis_postgresql_protocol::PostgresqlProtocolConfig;
use oasis_rules_handler::RulesConfig;
use oasis_store::ArchiveConfig;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Declares the file: the sections of DAC and node, and one for each handler.
macro_rules! sections {
    ($($name:ident: $handler:ty),* $(,)?) => {
        /// The whole file.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct Config {
            /// Limit for all memory that peers of a DAC can cause, in bytes.
            pub memory_bytes: usize,
            /// Name of a node of the DAC itself, which reports what the DAC's threads do. Empty: there is none.
            pub own_node: String,
            /// Whether addresses beyond this host may be listened on without TLS.
            pub insecure: bool,
            pub tls: TlsConfig,
            pub doors: DoorsConfig,
            pub tem: TemConfig,
            pub relay: RelayConfig,
            pub access: AccessConfig,
            pub channel: ChannelConfig,
            pub log: LogConfig,
            pub archive: ArchiveConfig,
            pub rules: RulesConfig,
            $(pub $name: <$handler as ConfiguredHandler>::Config,)*
            pub postgresql_protocol: PostgresqlProtocolConfig,
            pub notify: NotifyConfig,
            pub node: NodeSettings,
            pub gateway: GatewayConfig,
        }

        impl Default for Config {
            fn default() -> Self {
                Self {
                    memory_bytes: oasis_dac::DEFAULT_MEMORY,
                    own_node: String::new(),
                    insecure: false,
                    tls: Default::default(),
                    doors: Default::default(),
                    tem: Default::default(),
                    relay: Default::default(),
                    access: Default::default(),
                    channel: Default::default(),
                    log: Default::default(),
                    archive: Default::default(),
                    rules: Default::default(),
                    $($name: Default::default(),)*
                    postgresql_protocol: Default::default(),
                    notify: Default::default(),
                    node: Default::default(),
                    gateway: Default::default(),
                }
            }
        }

        impl Config {
            /// The enabled handlers.
            pub fn handlers(&self) -> anyhow::Result<Vec<Arc<dyn Handler>>> {
                let mut handlers: Vec<Arc<dyn Handler>> = Vec::new();
                $(
                    let configured = <$handler as ConfiguredHandler>::configured(self.$name.clone());
                    let handler = configured.context(concat!("in the section [", stringify!($name), "]"))?;
                    handlers.extend(handler.map(|handler| -> Arc<dyn Handler> { Arc::new(handler) }));
                )*
                Ok(handlers)
            }
        }
    };
}

// The handlers of the DAC, a line each: its section, and its type.
sections! {
    openmetrics: oasis_openmetrics::OpenMetrics,
    postgresql: oasis_postgresql::Postgresql,
    nats: oasis_nats::handler::NatsCopy,
    dds: oasis_dds::handler::DdsPublish,
    influxdb: oasis_influxdb::Influxdb,
    otlp: oasis_otlp::Otlp,
    otlp_export: oasis_otlp_export::OtlpExport,
    prometheus: oasis_prometheus::Prometheus,
    remote_write: oasis_remote_write::RemoteWrite,
    mqtt: oasis_mqtt::Mqtt,
    mqtt_publish: oasis_mqtt_publish::MqttPublish,
    mavlink: oasis_mavlink::Mavlink,
    can: oasis_can::Can,
}
