//! `oasis settings`: what is kept for the next runs of nodes.

use crate::{
    broken_pipe::is_broken_pipe,
    live::{
        command,
        list::table,
        locate::{Located, NamedServer},
        unknown,
    },
    output_format::{Format, OutputFlags},
    target::Target,
};
use clap::{Args, Subcommand};
use oasis_format::visible::Visible;
use oasis_site::api;
use oasis_wire::{command::SettingName, time};
use serde_json::Value;
use std::io::{self, Write};

const COLUMN_HEADINGS: [&str; 5] = ["INSTANCE", "SETTING", "NOW", "PROGRAM", "KEPT"];

#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    located: Located,
    #[command(flatten)]
    output: OutputFlags,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List settings that are kept, or differ from what the program has declared.
    List {
        /// Only instances whose NODE/INSTANCE contains this text.
        text: Option<String>,
    },
    /// Return to what the program has declared, and forget what is kept.
    Reset {
        /// NODE/INSTANCE; a `*` in it matches any text, and all that match are reset.
        target: Target,
        /// rate, enabled, or deadband:METRIC [default: all].
        setting: Option<SettingName>,
    },
}

/// Runs a subcommand.
pub fn run(arguments: Arguments) -> anyhow::Result<()> {
    let Arguments { verb, located, output } = arguments;
    let format = output.format();
    match verb {
        Verb::List { text } => list(&located.servers()?, &text.unwrap_or_default(), format),
        Verb::Reset { target, setting } => {
            let what = command::What::Reset { setting };
            super::in_runtime(command::run(command::Arguments {
                target,
                what,
                keep: false,
                uuid: None,
                located,
            }))
        }
    }
}

fn list(servers: &[NamedServer], wanted: &str, format: Format) -> anyhow::Result<()> {
    let (mut found, mut all) = (Vec::new(), Vec::new());
    for (_, server) in servers {
        let mut answer = api::prompt(server)?.get("/settings", &[])?;
        if answer["kept_in"] == "memory" {
            eprintln!("this DAC keeps settings until it ends: give it a directory (channel.settings_dir)");
        }
        let settings = answer["settings"].as_array_mut().map(std::mem::take).unwrap_or_default();
        all.extend(settings.iter().map(name));
        found.extend(settings.into_iter().filter(|setting| unknown::fits(wanted, &name(setting))));
    }
    if !all.is_empty() && found.is_empty() {
        eprintln!("{}", unknown::nothing_fits("kept setting", wanted, &all, "oasis settings list"));
    } else if found.is_empty() {
        eprintln!("nothing is kept: keep what a command sets with `oasis command ... --keep`");
    }
    let mut out = io::stdout().lock();
    let printed = match format {
        Format::Json => found.iter().try_for_each(|setting| writeln!(out, "{setting}")),
        Format::Text => table(&mut out, &COLUMN_HEADINGS, &found.iter().map(row).collect::<Vec<_>>()),
    };
    match printed.map_err(anyhow::Error::from) {
        // `oasis settings list | head` is not an error.
        Err(error) if is_broken_pipe(&error) => Ok(()),
        other => other,
    }
}

fn name(setting: &Value) -> String {
    let text = |key: &str| setting[key].as_str().unwrap_or_default();
    format!("{}/{}", text("node"), text("instance"))
}

fn row(setting: &Value) -> Vec<String> {
    let cells = [
        name(setting),
        setting["setting"].as_str().unwrap_or_default().to_owned(),
        value(&setting["value"]),
        value(&setting["program"]),
        kept(&setting["kept"]),
    ];
    cells.map(|cell| Visible(&cell).to_string()).to_vec()
}

/// `5 Hz by person:ada, 2026-05-04T12:00:00Z`, and what keeps the node from having it.
fn kept(kept: &Value) -> String {
    if kept.is_null() {
        return "for this run only".into();
    }
    let at = time::format_digits(kept["at"].as_u64().unwrap_or_default(), 0);
    let text = format!("{} by {}, {at}", value(&kept["value"]), kept["by"].as_str().unwrap_or_default());
    match (kept["state"].as_str(), kept["problem"].as_str()) {
        (Some("applied") | None, _) => text,
        (Some(state), None) => format!("{text} ({state})"),
        (Some(state), Some(problem)) => format!("{text} ({state}: {problem})"),
    }
}

/// A value for people; `-` for an unknown one.
fn value(value: &Value) -> String {
    let Some((kind, value)) = value.as_object().and_then(|fields| fields.iter().next()) else {
        return "-".into();
    };
    match (&**kind, value) {
        ("hertz", hertz) => format!("{hertz} Hz"),
        ("demand", range) => format!("{} to {} Hz on demand", range["min"], range["max"]),
        ("enabled", Value::Bool(true)) => "enabled".into(),
        ("enabled", _) => "disabled".into(),
        ("deadband", Value::Null) => "any change".into(),
        (_, value) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_setting_is_a_row_that_steers_no_terminal() {
        let mut setting = json!({"node": "plant\u{1b}", "instance": "engine", "setting": "rate", "value": {"hertz": 5.0},
            "program": {"demand": {"min": 1.0, "max": 100.0}},
            "kept": {"value": {"hertz": 5.0}, "by": "person:ada", "at": 1_763_683_200_000_000_000_u64, "state": "applied"}});
        assert_eq!(
            row(&setting),
            [
                "plant\\u{1b}/engine",
                "rate",
                "5.0 Hz",
                "1.0 to 100.0 Hz on demand",
                "5.0 Hz by person:ada, 2025-11-21T00:00:00Z"
            ]
        );
        setting["kept"]["state"] = json!("refused");
        setting["kept"]["problem"] = json!("no metric");
        assert!(row(&setting)[4].ends_with("(refused: no metric)"));
        setting["kept"] = Value::Null;
        setting["value"] = json!({"deadband": null});
        assert_eq!(row(&setting)[2..], ["any change", "1.0 to 100.0 Hz on demand", "for this run only"]);
    }
}
