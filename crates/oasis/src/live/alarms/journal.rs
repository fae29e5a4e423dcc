//! `oasis alarms journal`

use super::{arguments::Journal, line, pages, print};
use crate::output_format::Format;
use oasis_client::Api;
use serde_json::Value;

/// Column headings.
const COLUMN_HEADINGS: [&str; 7] = ["TIME", "KIND", "RULE", "INSTANCE", "VALUE", "BY", "WHY"];

/// Prints entries, newest first.
pub fn run(api: &Api, which: Journal, format: Format) -> anyhow::Result<()> {
    let given = [
        ("from", which.from),
        ("to", which.to),
        ("rule", which.rule),
        ("node", which.node),
        ("instance", which.instance),
        ("kind", which.kind),
    ];
    let entries = pages(api, "/alarms/journal", "entries", given, which.last)?;
    if entries.is_empty() {
        eprintln!("the journal has no such entries");
    }
    print(&entries, format, &COLUMN_HEADINGS, |entry| row(entry).to_vec())
}

fn row(entry: &Value) -> [String; 7] {
    let missing = entry["missing"].as_u64().map(|missing| format!("{missing} samples are missing"));
    let why = [Some(line::text(entry, "cause")), missing, Some(line::text(entry, "comment"))];
    let why: Vec<_> = why.into_iter().flatten().filter(|why| !why.is_empty()).collect();
    [
        line::moment(entry, "time"),
        line::text(entry, "kind"),
        line::text(entry, "rule"),
        line::instance(entry),
        line::value(entry),
        line::text(entry, "principal"),
        why.join("; "),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_entry_says_what_happened_and_why() {
        let entry = json!({"time": 1_763_683_200_000_000_000_u64, "kind": "unknown", "rule": "Hot", "node": "a", "instance": "b",
            "cause": "spool_full", "missing": 12});
        let cells =
            ["2025-11-21T00:00:00Z", "unknown", "Hot", "a/b", "-", "", "spool_full; 12 samples are missing"];
        assert_eq!(row(&entry), cells);
    }
}
