//! All sections of the configuration file. `fuzz` includes this file, so it names nothing of its crate.

use anyhow::Context;
use oasis_access::AccessConfig;
use oasis_dac::config::{ChannelConfig, LogConfig, RelayConfig, TemConfig, TlsConfig};
use oasis_doors::DoorsConfig;
use oasis_ei_node::NodeSettings;
use oasis_gateway::GatewayConfig;
#[allow(unused_imports, reason = "all features may be built")]
use oasis_handler::UnbuiltSection;
use oasis_handler::{ConfiguredHandler, Handler};
use oasis_notify::NotifyConfig;
use oasis_rules_handler::RulesConfig;
use oasis_store::ArchiveConfig;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Declares the file: the sections of DAC and node, and one for each handler. Some handlers need a feature of the program.
macro_rules! sections {
    (
        handlers { $($name:ident: $handler:ty,)* }
        with features { $($feature:literal $optional:ident: $of_feature:ty,)* }
        servers with features { $($server_feature:literal $server:ident: $server_config:ty,)* }
    ) => {
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
            $(
                #[cfg(feature = $feature)]
                pub $optional: <$of_feature as ConfiguredHandler>::Config,
                #[cfg(not(feature = $feature))]
                pub $optional: UnbuiltSection,
            )*
            $(
                #[cfg(feature = $server_feature)]
                pub $server: $server_config,
                #[cfg(not(feature = $server_feature))]
                pub $server: UnbuiltSection,
            )*
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
                    $($optional: Default::default(),)*
                    $($server: Default::default(),)*
                    notify: Default::default(),
                    node: Default::default(),
                    gateway: Default::default(),
                }
            }
        }

        impl Config {
            /// The enabled handlers.
            pub fn handlers(&self) -> anyhow::Result<Vec<Arc<dyn Handler>>> {
                let mut handlers = Vec::new();
                $(handlers.extend(handler::<$handler>(&self.$name, stringify!($name))?);)*
                $(
                    #[cfg(feature = $feature)]
                    handlers.extend(handler::<$of_feature>(&self.$optional, stringify!($optional))?);
                )*
                Ok(handlers)
            }

            /// The sections with settings that need a feature which the program is built without, and the feature.
            pub fn unbuilt_sections(&self) -> Vec<(&'static str, &'static str)> {
                #[allow(unused_mut, reason = "all features may be built")]
                let mut sections = Vec::new();
                $(
                    #[cfg(not(feature = $feature))]
                    sections.extend((!self.$optional.is_empty()).then_some((stringify!($optional), $feature)));
                )*
                $(
                    #[cfg(not(feature = $server_feature))]
                    sections.extend((!self.$server.is_empty()).then_some((stringify!($server), $server_feature)));
                )*
                sections
            }
        }
    };
}

fn handler<C: ConfiguredHandler>(section: &C::Config, name: &str) -> anyhow::Result<Option<Arc<dyn Handler>>>
where
    C::Config: Clone,
    C::Handler: 'static,
{
    let configured = C::configured(section.clone());
    let handler = configured.with_context(|| format!("in the section [{name}]"))?;
    Ok(handler.map(|handler| -> Arc<dyn Handler> { Arc::new(handler) }))
}

// The handlers of the DAC, a line each: its feature, if it has one, its section, and its type.
sections! {
    handlers {
        openmetrics: oasis_openmetrics::OpenMetrics,
        nats: oasis_nats::handler::NatsCopy,
        dds: oasis_dds::handler::DdsPublish,
        otlp_export: oasis_otlp_export::OtlpExport,
    }
    with features {
        "postgresql" postgresql: oasis_postgresql::Postgresql,
        "influxdb" influxdb: oasis_influxdb::Influxdb,
        "otlp" otlp: oasis_otlp::Otlp,
        "prometheus" prometheus: oasis_prometheus::Prometheus,
        "remote-write" remote_write: oasis_remote_write::RemoteWrite,
        "offload" offload: oasis_offload::Offload,
        "mqtt" mqtt: oasis_mqtt::Mqtt,
        "mqtt-publish" mqtt_publish: oasis_mqtt_publish::MqttPublish,
        "mavlink" mavlink: oasis_mavlink::Mavlink,
        "can" can: oasis_can::Can,
    }
    servers with features {
        "postgresql-protocol" postgresql_protocol: oasis_postgresql_protocol::PostgresqlProtocolConfig,
    }
}
