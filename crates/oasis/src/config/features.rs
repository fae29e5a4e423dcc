//! The features that settings ask for.

use super::Config;
use crate::features::{
    CAN, DDS, Feature, INFLUXDB, MAIL, MAVLINK, MDNS, MQTT, MQTT_PUBLISH, NATS, OIDC, OTLP, POSTGRESQL,
    POSTGRESQL_PROTOCOL, PROMETHEUS, REMOTE_WRITE,
};
use oasis_notify::DestinationConfig;

impl Config {
    /// Checks that the program is built with all that the settings ask for.
    ///
    /// # Errors
    /// If it is not: names the section.
    pub fn check_features(&self) -> anyhow::Result<()> {
        self.features().into_iter().try_for_each(|(feature, setting)| feature.require(&setting))
    }

    /// Returns the features that the settings ask for, each with a setting that does.
    fn features(&self) -> Vec<(Feature, String)> {
        let mut features = Vec::new();
        let mut ask = |is_asked: bool, feature, setting: &str| {
            if is_asked {
                features.push((feature, setting.to_owned()));
            }
        };
        ask(self.access.oidc.is_enabled(), OIDC, "[access.oidc]");
        ask(!self.postgresql.url.is_empty(), POSTGRESQL, "[postgresql]");
        ask(!self.postgresql_protocol.listen.is_empty(), POSTGRESQL_PROTOCOL, "[postgresql_protocol]");
        ask(self.influxdb.enabled, INFLUXDB, "[influxdb]");
        ask(self.otlp.enabled, OTLP, "[otlp]");
        ask(self.prometheus.enabled, PROMETHEUS, "[prometheus]");
        ask(!self.remote_write.url.is_empty(), REMOTE_WRITE, "[remote_write]");
        ask(!self.mqtt.url.is_empty(), MQTT, "[mqtt]");
        ask(!self.mqtt_publish.url.is_empty(), MQTT_PUBLISH, "[mqtt_publish]");
        ask(!self.mavlink.links.is_empty(), MAVLINK, "[mavlink]");
        ask(!self.can.interfaces.is_empty(), CAN, "[can]");
        ask(self.tem.mdns, MDNS, "mdns in [tem] (--mdns)");
        ask(!self.nats.url.is_empty(), NATS, "[nats] (--nats, OASIS_NATS)");
        ask(self.dds.publish || self.dds.channel, DDS, "[dds] (--dds, OASIS_DDS)");
        for (name, destination) in &self.notify.0 {
            ask(matches!(destination, DestinationConfig::Mail(_)), MAIL, &format!("[notify.{name}]"));
        }
        features
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_section_asks_for_its_feature() {
        let asked =
            |toml: &str| -> Vec<(Feature, String)> { toml::from_str::<Config>(toml).unwrap().features() };
        assert_eq!(asked(""), []);
        for (toml, feature, setting) in [
            ("[access.oidc]\nissuer = 'https://id.example'", OIDC, "[access.oidc]"),
            ("[postgresql]\nurl = 'host=localhost'", POSTGRESQL, "[postgresql]"),
            (
                "[postgresql_protocol]\nlisten = '127.0.0.1:5432'",
                POSTGRESQL_PROTOCOL,
                "[postgresql_protocol]",
            ),
            ("[influxdb]\nenabled = true", INFLUXDB, "[influxdb]"),
            ("[otlp]\nenabled = true", OTLP, "[otlp]"),
            ("[prometheus]\nenabled = true", PROMETHEUS, "[prometheus]"),
            ("[remote_write]\nurl = 'http://127.0.0.1:9090/api/v1/write'", REMOTE_WRITE, "[remote_write]"),
            ("[mqtt]\nurl = 'mqtt://localhost'", MQTT, "[mqtt]"),
            ("[mqtt_publish]\nurl = 'mqtt://localhost'", MQTT_PUBLISH, "[mqtt_publish]"),
            ("[mavlink]\nlinks = ['udpin:127.0.0.1:14550']", MAVLINK, "[mavlink]"),
            ("[can]\ninterfaces = ['can0']", CAN, "[can]"),
            ("[tem]\nmdns = true", MDNS, "mdns in [tem] (--mdns)"),
            ("[nats]\nurl = 'nats://127.0.0.1'", NATS, "[nats] (--nats, OASIS_NATS)"),
            ("[dds]\npublish = true", DDS, "[dds] (--dds, OASIS_DDS)"),
            ("[notify.operators]\nkind = 'mail'", MAIL, "[notify.operators]"),
        ] {
            assert_eq!(asked(toml), [(feature, setting.to_owned())]);
        }
        assert_eq!(asked("[notify.pager]\nkind = 'webhook'"), []);
    }
}
