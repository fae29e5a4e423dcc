//! Selection of a reader of a fleet.

use super::metric_path::{MAX_PATH_BYTES, MetricPath};
use crate::past::times::NotAllowed;
use oasis_dac::{
    Instance,
    settings::{LabelFilter, LabelMap},
};
use oasis_wire::pattern::matches;
use serde::Deserialize;
use std::time::Duration;

/// Metrics of a fleet.
pub const METRICS: usize = 3;
/// Longest pattern, in bytes.
const LONGEST_PATTERN: usize = 512;
/// Shortest and longest period, in seconds.
const PERIODS: std::ops::RangeInclusive<f64> = 0.25..=10.0;

/// A fleet as a reader asks for it.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FleetRequest {
    nodes: Option<String>,
    instances: Option<String>,
    types: Option<String>,
    labels: Option<String>,
    #[serde(default)]
    metrics: Vec<String>,
    period: Option<f64>,
}

/// The same after it was checked. Readers with equal selections share one summary.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Selection {
    nodes: String,
    instances: String,
    types: String,
    labels: LabelFilter,
    /// Paths in the order of the reader.
    pub metrics: Vec<MetricPath>,
    /// Time between two rounds.
    pub period: Duration,
}

impl FleetRequest {
    /// Checks a request.
    ///
    /// # Errors
    /// Names the field that is not allowed.
    pub fn check(&self) -> Result<Selection, NotAllowed> {
        let period = self.period.unwrap_or(1.0);
        if !PERIODS.contains(&period) {
            return Err(NotAllowed::new("period", &period.to_string(), "seconds from 0.25 to 10"));
        }
        if self.metrics.len() > METRICS {
            let found = format!("{} metrics", self.metrics.len());
            return Err(NotAllowed::new("metrics", &found, "at most 3"));
        }
        let path = |text: &String| {
            let shown: String = text.chars().take(MAX_PATH_BYTES).collect();
            MetricPath::parse(text).ok_or_else(|| {
                NotAllowed::new(
                    "metrics",
                    &shown,
                    "paths of at most 200 bytes, such as load or axes[0].position",
                )
            })
        };
        Ok(Selection {
            nodes: pattern("nodes", self.nodes.as_deref())?,
            instances: pattern("instances", self.instances.as_deref())?,
            types: pattern("types", self.types.as_deref())?,
            labels: labels(self.labels.as_deref().unwrap_or_default())?,
            metrics: self.metrics.iter().map(path).collect::<Result<_, _>>()?,
            // Whole milliseconds, so that equal periods are equal.
            period: Duration::from_millis((period * 1_000.0) as u64),
        })
    }
}

fn pattern(name: &str, wanted: Option<&str>) -> Result<String, NotAllowed> {
    match wanted {
        None => Ok("*".into()),
        Some(text) if text.len() <= LONGEST_PATTERN => Ok(text.into()),
        Some(text) => {
            let found = format!("{} bytes", text.len());
            Err(NotAllowed::new(name, &found, format!("a pattern of at most {LONGEST_PATTERN} bytes")))
        }
    }
}

fn labels(text: &str) -> Result<LabelFilter, NotAllowed> {
    let shown = || text.chars().take(MAX_PATH_BYTES).collect::<String>();
    let allowed = format!(
        "KEY=VALUE separated by commas, at most 16 of them and {LONGEST_PATTERN} bytes; a * matches any text"
    );
    if text.len() > LONGEST_PATTERN {
        return Err(NotAllowed::new("labels", &shown(), allowed));
    }
    LabelFilter::parse(text).map_err(|_| NotAllowed::new("labels", &shown(), allowed))
}

impl Selection {
    /// Whether an instance belongs to the fleet, whatever its labels are. One that another type has replaced does not.
    pub fn contains(&self, instance: &Instance) -> bool {
        matches(&self.nodes, &instance.node)
            && matches(&self.instances, &instance.name)
            && matches(&self.types, &instance.probe_type.name)
            && !instance.is_retired()
    }

    /// Whether an instance with these labels, its node's included, belongs to the fleet.
    pub fn passes(&self, labels: &LabelMap) -> bool {
        self.labels.is_empty() || self.labels.passes(labels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str) -> Result<Selection, String> {
        serde_json::from_str::<FleetRequest>(json).unwrap().check().map_err(|error| error.to_string())
    }

    #[test]
    fn a_fleet_without_patterns_is_everything_once_a_second() {
        let all = check("{}").unwrap();
        assert_eq!((&*all.nodes, &*all.instances, &*all.types), ("*", "*", "*"));
        assert_eq!((all.metrics.len(), all.period), (0, Duration::from_secs(1)));
        assert_eq!(check(r#"{"period": 1.0}"#).unwrap(), all);
        assert_ne!(check(r#"{"nodes": "plant-*"}"#).unwrap(), all);
    }

    #[test]
    fn an_error_names_the_field_and_what_is_allowed() {
        let many = format!(r#"{{"nodes": "{}"}}"#, "a".repeat(513));
        for (json, words) in [
            (r#"{"labels": "site"}"#, "labels is \"site\""),
            (r#"{"period": 0.1}"#, "period is \"0.1\""),
            (r#"{"period": 11}"#, "from 0.25 to 10"),
            (r#"{"metrics": ["a", "b", "c", "d"]}"#, "at most 3"),
            (r#"{"metrics": ["a["]}"#, "metrics is \"a[\""),
            (&many, "nodes is \"513 bytes\""),
        ] {
            let refused = check(json).unwrap_err();
            assert!(refused.contains(words), "{json}: {refused}");
        }
    }
}
