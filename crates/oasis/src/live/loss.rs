//! `oasis loss`: whether every generated sample is accounted for.

use crate::{live::arguments::Loss, output_format::Format};
use anyhow::bail;
use oasis_format::visible::Visible;
use oasis_site::api;
use serde_json::Value;
use std::io::{self, Write};

/// Prints the account of instances whose names contain a text. Fails if a sample is undeclared.
pub fn run(arguments: Loss) -> anyhow::Result<()> {
    let report = api::at(&arguments.located.server(&[])?)?.get("/audit", &[])?;
    let wanted = arguments.text.unwrap_or_default();
    let all = report["instances"].as_array().into_iter().flatten();
    let found: Vec<&Value> = all.filter(|instance| name(instance).contains(&wanted)).collect();
    if found.is_empty() {
        eprintln!("nothing to account for: no instance whose NODE/INSTANCE contains {wanted:?}");
    }
    match print(&found, arguments.output.format()) {
        // `oasis loss | head` is not an error.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        other => other?,
    }
    match found.iter().map(|instance| undeclared(instance)).sum() {
        0 => Ok(()),
        undeclared => {
            bail!("{undeclared} samples are undeclared: please report this with the output of --json")
        }
    }
}

fn name(instance: &Value) -> String {
    let text = |key: &str| instance[key].as_str().unwrap_or_default();
    format!("{}/{}", text("node"), text("instance"))
}

/// At the DAC and in its archive.
fn undeclared(instance: &Value) -> u64 {
    let count = |value: &Value| value.as_u64().unwrap_or_default();
    count(&instance["undeclared"]) + count(&instance["archive"]["undeclared"])
}

fn print(found: &[&Value], format: Format) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if format == Format::Json {
        return found.iter().try_for_each(|instance| writeln!(out, "{instance}"));
    }
    found.iter().try_for_each(|instance| writeln!(out, "{}", paragraph(instance)))
}

/// The identity with its numbers, such as `plant/pump: 12 generated = 10 received + 2 ring_full + 0 spooled + 0 in flight`.
fn paragraph(instance: &Value) -> String {
    let count = |key: &str| instance[key].as_u64().unwrap_or_default();
    let causes = instance["declared"].as_object().into_iter().flatten();
    let lost: String = causes.map(|(cause, count)| format!(" + {count} {cause}")).collect();
    let name = name(instance);
    let (generated, received) = (count("generated"), count("received"));
    let (spooled, in_flight) = (count("spooled"), count("in_flight"));
    let mut text = format!(
        "{}: {generated} generated = {received} received{lost} + {spooled} spooled + {in_flight} in flight",
        Visible(name.as_str())
    );
    if let Some(archive) = instance["archive"].as_object() {
        let count = |key: &str| archive[key].as_u64().unwrap_or_default();
        text += &format!(
            "; {received} received = {} stored + {} not stored + {} to store",
            count("stored"),
            count("missing"),
            count("waiting")
        );
    }
    match undeclared(instance) {
        0 => text,
        undeclared => format!("{text}; {undeclared} UNDECLARED"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_account_is_a_line() {
        let mut instance = json!({"node": "plant\n", "instance": "pump", "generated": 14, "received": 10,
            "declared": {"ring_full": 2, "network": 1}, "spooled": 1, "in_flight": 0, "undeclared": 0});
        let line = "plant\\u{a}/pump: 14 generated = 10 received + 2 ring_full + 1 network + 1 spooled + 0 in flight";
        assert_eq!(paragraph(&instance), line);
        instance["archive"] = json!({"stored": 8, "missing": 0, "waiting": 1, "undeclared": 1});
        let stored = "; 10 received = 8 stored + 0 not stored + 1 to store; 1 UNDECLARED";
        assert_eq!(paragraph(&instance), format!("{line}{stored}"));
    }
}
