//! The features of this program: parts that a build may leave out.

use anyhow::anyhow;

/// A part that a build may leave out.
#[derive(Debug, PartialEq, Eq)]
pub struct Feature {
    /// Its name for Cargo.
    name: &'static str,
    /// Its name for people.
    title: &'static str,
    is_built: bool,
    /// Whether packages and `make build` have it.
    is_packaged: bool,
}

/// Declares the features of this crate: the name of each, its title, and whether packages have it.
macro_rules! features {
    ($($constant:ident: $name:literal, $title:literal, $is_packaged:literal;)*) => {
        $(
            pub const $constant: Feature =
                Feature { name: $name, title: $title, is_built: cfg!(feature = $name), is_packaged: $is_packaged };
        )*
        const ALL: &[Feature] = &[$($constant),*];
    };
}

features! {
    ARROW: "arrow", "Arrow and Parquet", true;
    MCAP: "mcap", "MCAP", true;
    INFLUXDB: "influxdb", "line protocol", true;
    LSP: "lsp", "language servers", true;
    MAN_PAGES: "man-pages", "manual pages", true;
    OIDC: "oidc", "OpenID Connect", true;
    MAIL: "mail", "mail", true;
    OTLP: "otlp", "OTLP", true;
    POSTGRESQL: "postgresql", "PostgreSQL", true;
    CAN: "can", "CAN", true;
    MAVLINK: "mavlink", "MAVLink", true;
    POSTGRESQL_PROTOCOL: "postgresql-protocol", "the PostgreSQL protocol", true;
    MQTT: "mqtt", "MQTT", true;
    MQTT_PUBLISH: "mqtt-publish", "publishing to MQTT", true;
    PROMETHEUS: "prometheus", "Prometheus remote write", true;
    REMOTE_WRITE: "remote-write", "remote write to Prometheus", true;
    OFFLOAD: "offload", "object storage", true;
    MDNS: "mdns", "mDNS", true;
    NATS: "nats", "NATS", false;
    DDS: "dds", "DDS", false;
}

impl Feature {
    /// Returns the feature with this name for Cargo.
    pub fn named(name: &str) -> Option<&'static Self> {
        ALL.iter().find(|feature| feature.name == name)
    }

    /// Checks that the program is built with it. `setting` asks for it.
    ///
    /// # Errors
    /// If it is not.
    pub fn require(&self, setting: &str) -> anyhow::Result<()> {
        if self.is_built { Ok(()) } else { Err(self.missing(setting)) }
    }

    /// Returns the error of a program that is built without it. `setting` asks for it.
    pub fn missing(&self, setting: &str) -> anyhow::Error {
        let Self { name, title, is_packaged, .. } = self;
        let or_install = if *is_packaged { ", or install a package" } else { "" };
        anyhow!(
            "{setting} needs {title}, which this program is built without: build it with --features {name}{or_install}"
        )
    }
}

/// Returns which features are built, and which are not.
pub fn summary() -> String {
    let names = |is_built| -> Vec<&str> {
        ALL.iter().filter(|feature| feature.is_built == is_built).map(|feature| feature.name).collect()
    };
    match (names(true).join(", "), names(false).join(", ")) {
        (built, missing) if missing.is_empty() => format!("built with: {built}"),
        (built, missing) if built.is_empty() => format!("built without: {missing}"),
        (built, missing) => format!("built with: {built}; without: {missing}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_of_a_missing_feature_is_refused_with_a_remedy() {
        let missing = |feature: Feature| Feature { is_built: false, ..feature };
        let said = |feature: Feature| missing(feature).require("[a]").unwrap_err().to_string();
        assert_eq!(
            said(OIDC),
            "[a] needs OpenID Connect, which this program is built without: build it with --features oidc, or install a package"
        );
        assert!(said(NATS).ends_with("build it with --features nats"));
        assert!(Feature { is_built: true, ..MAIL }.require("[a]").is_ok());
    }

    #[test]
    fn the_summary_names_each_feature_once() {
        let summary = summary();
        let words: Vec<&str> = summary.split([' ', ',', ';', ':']).collect();
        for feature in ALL {
            assert_eq!(words.iter().filter(|word| **word == feature.name).count(), 1, "{summary}");
        }
    }

    #[test]
    fn packages_have_the_features_of_a_site() {
        let cargo: toml::Table = include_str!("../Cargo.toml").parse().unwrap();
        let features = cargo["features"].as_table().unwrap();
        let mut site: Vec<&str> =
            features["site"].as_array().unwrap().iter().filter_map(|name| name.as_str()).collect();
        let mut packaged: Vec<&str> =
            ALL.iter().filter(|feature| feature.is_packaged).map(|feature| feature.name).collect();
        site.sort_unstable();
        packaged.sort_unstable();
        assert_eq!(site, packaged);
        let all = ALL.iter().map(|feature| feature.name).chain(["default", "live", "site"]);
        assert_eq!(features.len(), all.clone().count());
        assert!(all.into_iter().all(|name| features.contains_key(name)));
    }
}
