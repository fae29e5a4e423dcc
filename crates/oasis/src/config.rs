//! The configuration file: TOML, with the names of the flags. `docs/reference/oasis.toml` documents every key by being the default.

mod default_file;
#[cfg(feature = "live")]
mod features;
mod file;
#[cfg(feature = "live")]
mod flags;
#[cfg(all(feature = "mqtt", feature = "mqtt-publish"))]
mod mqtt_sections;
#[cfg(not(feature = "live"))]
mod offline;
mod ranges;
mod removed;
mod secrets;
#[cfg(feature = "live")]
mod sections;
mod suggestions;

#[cfg(not(feature = "live"))]
pub use offline::Config;
#[cfg(feature = "live")]
pub use sections::Config;

use crate::private_file;
use anyhow::Context;
use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

impl Config {
    /// The file that is named, else that of the user or of the host, or the defaults.
    pub fn read(named: Option<&Path>) -> anyhow::Result<Self> {
        Self::read_file(Self::file(named).as_deref())
    }

    /// The file that [`Config::read`] reads.
    pub fn file(named: Option<&Path>) -> Option<PathBuf> {
        default_file::find(named, true)
    }

    fn read_file(path: Option<&Path>) -> anyhow::Result<Self> {
        let Some(path) = path else { return Ok(Self::default()) };
        let mut bytes = Vec::new();
        let file = File::open(path);
        let read = file
            .and_then(|file| (&file).take(file::MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map(|_| file));
        let file = read.with_context(|| format!("cannot read the configuration {}", path.display()))?;
        let within = || format!("in the configuration {}", path.display());
        let settings: Self = file::parse(&bytes).map_err(suggestions::add).with_context(within)?;
        if let Some(key) = secrets::found(&bytes) {
            private_file::check(&file, path)
                .with_context(|| format!("{key} has a password"))
                .with_context(within)?;
        }
        #[cfg(feature = "live")]
        let settings = settings.relative_to(path.parent().unwrap_or(Path::new("")));
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(bytes: &[u8]) -> String {
        format!("{:#}", file::parse::<Config>(bytes).unwrap_err())
    }

    #[test]
    fn an_error_names_the_place() {
        assert!(refused(b"[archive]\n# caf\xe9\n").contains("line 2 is not UTF-8"));
        assert!(refused(b"[archive]\ncommit = 1\n").contains("line 2"));
        assert!(refused(&vec![b'#'; 1024 * 1024 + 1]).contains("longer than 1 MiB"));
        assert!(
            refused(b"[archive]\npinned_percent = 101").contains("line 2: archive.pinned_percent is 101")
        );
        let folder = tempfile::tempdir().unwrap();
        let error = format!("{:#}", Config::read(Some(folder.path())).unwrap_err());
        assert!(error.contains(&folder.path().display().to_string()), "{error}");
    }

    #[test]
    fn a_key_that_is_unknown_in_any_section_has_a_suggestion() {
        let suggested = |text: &str| {
            format!("{:#}", suggestions::add(file::parse::<Config>(text.as_bytes()).unwrap_err()))
        };
        let error = suggested("[archiv]\n");
        assert!(error.contains("did you mean `archive`?"), "{error}");
        let error = suggested("[archive]\npinned_percnt = 1\n");
        assert!(error.contains("did you mean `pinned_percent`?"), "{error}");
        #[cfg(feature = "mqtt")]
        {
            let error = suggested("[mqtt]\nsubscribe = [{ topicc = \"a\" }]\n");
            assert!(error.ends_with("did you mean `topic`?") && error.contains("line 2"), "{error}");
            let error = suggested("[mqtt]\nsubscribe = [{ topic = \"a\", format = \"jsn\" }]\n");
            assert!(error.ends_with("did you mean `json`?"), "{error}");
        }
        let error = suggested("[archive]\nqqqqqqqqqq = 1\n");
        assert!(!error.contains("did you mean"), "{error}");
    }

    #[cfg(feature = "live")]
    #[test]
    fn the_metrics_of_each_handler_are_in_its_state_and_have_one_kind() {
        let mut counters = vec!["restarts"];
        let mut gauges = vec!["up"];
        for section in [
            "[postgresql]\nurl = 'host=localhost'",
            "[nats]\nurl = 'nats://127.0.0.1'",
            "[dds]\npublish = true",
            "[influxdb]\nenabled = true",
            "[otlp]\nenabled = true",
            "[otlp_export]\nendpoint = 'http://127.0.0.1:4318'",
            "[prometheus]\nenabled = true",
            "[remote_write]\nurl = 'http://127.0.0.1:9090/api/v1/write'",
            "[mqtt]\nurl = 'mqtt://localhost'\nsubscribe = [{ topic = '#' }]",
            "[mqtt_publish]\nurl = 'mqtt://localhost'",
            "[mavlink]\nlinks = ['udpin:127.0.0.1:14550']",
            "[can]\ninterfaces = ['can0']",
        ] {
            let config: Config = toml::from_str(section).unwrap();
            if !config.unbuilt_sections().is_empty() {
                continue;
            }
            let handlers = match config.handlers() {
                Ok(handlers) => handlers,
                Err(error) if format!("{error:#}").contains("built without") => continue,
                Err(error) => panic!("{section}: {error:#}"),
            };
            let handler = handlers.last().unwrap();
            assert!(section.starts_with(&format!("[{}]", handler.name())), "{section}: {}", handler.name());
            let metrics = handler.metrics();
            assert_eq!(metrics.absent_from(&handler.state()), Vec::<&str>::new(), "{section}");
            assert!(!metrics.counters.is_empty(), "{section}");
            counters.extend(metrics.counters);
            gauges.extend(metrics.gauges);
        }
        // A metric has one kind, and the labels of all its series have one name.
        let both: Vec<_> = counters.iter().filter(|name| gauges.contains(name)).collect();
        assert!(both.is_empty(), "{both:?}");
    }

    #[cfg(feature = "live")]
    #[test]
    fn every_number_of_the_file_has_a_range_that_its_default_is_in() {
        let documented = include_str!("../../../docs/reference/oasis.toml");
        ranges::check(documented).unwrap();
        let all = toml::Table::try_from(Config::default()).unwrap();
        let mut keys: Vec<String> = vec!["memory_bytes".into()];
        for (section, values) in all.iter().filter_map(|(name, value)| Some((name, value.as_table()?))) {
            let integers = values.iter().filter(|(_, value)| value.is_integer());
            keys.extend(integers.map(|(key, _)| format!("{section}.{key}")));
        }
        for key in keys {
            assert!(ranges::RANGES.iter().any(|(known, _)| *known == key), "{key} has no range");
        }
    }
}
