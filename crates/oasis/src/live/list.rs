//! `oasis list`: the probe instances that a DAC knows.

use crate::{live::api::Api, live::arguments::List, output_format::Format};
use oasis_format::visible::Visible;
use serde_json::Value;
use std::io::{self, Write};

/// Column headings.
const HEAD: [&str; 5] = ["INSTANCE", "TYPE", "KIND", "RATE", "STATE"];

/// Prints instances whose names contain a text.
pub fn run(arguments: List) -> anyhow::Result<()> {
    let answer = Api::at(&arguments.server)?.get("/instances", &[])?;
    let wanted = arguments.text.unwrap_or_default();
    let is_wanted = |instance: &&Value| name(instance).contains(&wanted);
    let found: Vec<&Value> = answer["instances"].as_array().into_iter().flatten().filter(is_wanted).collect();
    if found.is_empty() {
        match wanted.is_empty() {
            true => eprintln!("no instances yet: start a node (`oasis node`)"),
            false => eprintln!("no instance whose NODE/INSTANCE contains {wanted:?}"),
        }
    }
    match print(&found, arguments.format) {
        // `oasis list | head` is not an error.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

fn name(instance: &Value) -> String {
    format!("{}/{}", text(instance, "node"), text(instance, "instance"))
}

fn text<'a>(instance: &'a Value, key: &str) -> &'a str {
    instance[key].as_str().unwrap_or_default()
}

fn print(found: &[&Value], format: Format) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if format == Format::Json {
        return found.iter().try_for_each(|instance| writeln!(out, "{instance}"));
    }
    let rows: Vec<[String; 5]> = found.iter().map(|instance| row(instance)).collect();
    let head = HEAD.map(str::to_owned);
    let all = || std::iter::once(&head).filter(|_| !rows.is_empty()).chain(&rows);
    let mut widths = [0; 5];
    for row in all() {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    for row in all() {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        writeln!(out, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
    }
    Ok(())
}

fn row(instance: &Value) -> [String; 5] {
    let rate = instance["hertz"].as_f64().map_or("-".into(), |hertz| format!("{hertz} Hz"));
    let state = match instance["enabled"] == false {
        true => "disabled",
        false => text(instance, "state"),
    };
    [&name(instance), text(instance, "type"), text(instance, "kind"), &rate, state]
        .map(|cell| Visible(cell).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_instance_is_a_row() {
        let mut instance = json!({"node": "plant\u{1b}", "instance": "network/eth0", "type": "A::Network", "kind": "periodic",
            "hertz": 2.5, "state": "online", "enabled": true});
        assert_eq!(
            row(&instance),
            ["plant\\u{1b}/network/eth0", "A::Network", "periodic", "2.5 Hz", "online"]
        );
        instance["enabled"] = json!(false);
        instance["hertz"] = Value::Null;
        assert_eq!(row(&instance)[3..], ["-", "disabled"]);
    }
}
