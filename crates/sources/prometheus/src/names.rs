//! Nodes and instances of series.

use crate::PrometheusConfig;
use oasis_source_node::push_node_name;

/// Series that Prometheus itself makes of each scrape. They continue while a target does not answer, so that its node does not have them.
const OF_SCRAPES: [&str; 8] = [
    "up",
    "scrape_body_size_bytes",
    "scrape_duration_seconds",
    "scrape_sample_limit",
    "scrape_samples_post_metric_relabeling",
    "scrape_samples_scraped",
    "scrape_series_added",
    "scrape_timeout_seconds",
];

/// The names of a series, reused for the next one.
#[derive(Debug, Default)]
pub struct Names {
    pub node: String,
    /// The metric and all other labels: `node_load1,job=hosts`.
    pub instance: String,
}

impl Names {
    /// Takes the names from labels. Returns the name of the metric.
    ///
    /// # Errors
    /// If a name is missing.
    pub fn take<'m>(
        &mut self,
        labels: &[(&'m str, &'m str)],
        config: &PrometheusConfig,
    ) -> Result<&'m str, String> {
        let value = |name: &str| labels.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        let metric = value("__name__").filter(|metric| !metric.is_empty());
        let metric = metric.ok_or("a series has no label __name__")?;
        self.node.clear();
        self.node.push_str(&config.node_prefix);
        let is_of_scrape = OF_SCRAPES.contains(&metric) && !config.node_prefix.is_empty();
        match value(&config.node_label).filter(|_| !is_of_scrape) {
            Some(of) => {
                if !self.node.is_empty() {
                    self.node.push('-');
                }
                push_node_name(of, &mut self.node);
            }
            None if self.node.is_empty() => {
                let label = &config.node_label;
                return Err(format!(
                    "the series {metric} has no label {label:?}: set prometheus.node_prefix"
                ));
            }
            None => {}
        }
        self.instance.clear();
        self.instance.push_str(metric);
        let is_named = |name: &str| name == "__name__" || (name == config.node_label && !is_of_scrape);
        // An empty label is the same as none.
        for (name, value) in labels.iter().filter(|(name, value)| !is_named(name) && !value.is_empty()) {
            self.instance.push(',');
            self.instance.push_str(name);
            self.instance.push('=');
            escape(value, &mut self.instance);
        }
        Ok(metric)
    }
}

/// Escapes what separates labels, so that two series never have one name, and lines, which names cannot have.
fn escape(value: &str, to: &mut String) {
    for sign in value.chars() {
        match sign {
            '\n' => to.push_str("\\n"),
            ',' | '=' | '\\' => to.extend(['\\', sign]),
            other => to.push(other),
        }
    }
}
