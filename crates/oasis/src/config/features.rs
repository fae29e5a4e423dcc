//! The features that settings ask for.

use super::Config;
use crate::features::{DDS, Feature, MAIL, MDNS, NATS, OIDC};
use anyhow::Context;
use oasis_notify::DestinationConfig;

impl Config {
    /// Checks that the program is built with all that the settings ask for.
    ///
    /// # Errors
    /// If it is not: names the section.
    pub fn check_features(&self) -> anyhow::Result<()> {
        for (section, feature) in self.unbuilt_sections() {
            let feature =
                Feature::named(feature).with_context(|| format!("[{section}]: no feature {feature}"))?;
            feature.require(&format!("[{section}]"))?;
        }
        self.features().into_iter().try_for_each(|(feature, setting)| feature.require(&setting))
    }

    /// Returns the features that settings of parts which each program has ask for, each with a setting that does.
    fn features(&self) -> Vec<(Feature, String)> {
        let mut features = Vec::new();
        let mut ask = |is_asked: bool, feature, setting: &str| {
            if is_asked {
                features.push((feature, setting.to_owned()));
            }
        };
        ask(self.access.oidc.is_enabled(), OIDC, "[access.oidc]");
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
