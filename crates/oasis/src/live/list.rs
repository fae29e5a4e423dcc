//! `oasis list`: the probe instances that a DAC knows, or all DACs of a TEM.

use crate::{
    live::{arguments::List, dacs, locate::NamedServer},
    output_format::Format,
    target::Target,
};
use anyhow::bail;
use oasis_client::{ClientError, Server};
use oasis_format::visible::Visible;
use oasis_site::api;
use oasis_tem::DacName;
use serde_json::Value;
use std::{
    collections::BTreeMap,
    io::{self, IsTerminal, Write},
    thread,
};

/// Column headings.
const COLUMN_HEADINGS: [&str; 5] = ["INSTANCE", "TYPE", "KIND", "RATE", "STATE"];

/// Begins the types of results and of derived instances (rules.md).
const RULE_TYPES: &str = "OASIS::Rules::";
/// Most characters of a cell on a terminal.
const MAX_CELL_CHARS: usize = 60;
/// DACs that are asked at the same time.
const MAX_CONCURRENT_REQUESTS: usize = 16;

/// Prints instances whose names contain a text.
pub fn run(arguments: List) -> anyhow::Result<()> {
    if arguments.dacs {
        return dacs::run(&arguments.located.list()?, arguments.output.format());
    }
    let wanted = arguments.text.unwrap_or_default();
    let servers = arguments.located.servers()?;
    let (found, failed) = list_instances(&servers, &wanted)?;
    if found.is_empty() && failed == 0 {
        match wanted.is_empty() {
            true => eprintln!("no instances yet: start a node (`oasis node`)"),
            false => eprintln!("no instance whose NODE/INSTANCE contains {wanted:?}"),
        }
    }
    match print(&found, arguments.output.format(), wanted.is_empty()) {
        // `oasis list | head` is not an error.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        other => other?,
    }
    match failed {
        0 => Ok(()),
        1 => bail!("a DAC did not answer: the list lacks its instances"),
        failed => bail!("{failed} DACs did not answer: the list lacks their instances"),
    }
}

/// Returns the names of all instances of some DACs, and how many DACs did not answer.
pub fn targets(servers: &[NamedServer]) -> anyhow::Result<(Vec<Target>, usize)> {
    let (found, failed) = list_instances(servers, "")?;
    let target = |instance: &Value| Target {
        node: text(instance, "node").into(),
        instance: text(instance, "instance").into(),
    };
    Ok((found.iter().map(target).collect(), failed))
}

/// Asks the DACs; one of a TEM that does not answer leaves the others. Returns what was found, and how many did not answer.
fn list_instances(servers: &[NamedServer], wanted: &str) -> anyhow::Result<(Vec<Value>, usize)> {
    let (mut found, mut failed) = (Vec::new(), 0);
    for (dac, answer) in servers.chunks(MAX_CONCURRENT_REQUESTS).flat_map(list_concurrently) {
        let instances = match (answer, dac) {
            (Ok(instances), _) => instances,
            (Err(error), None) => return Err(error.into()),
            (Err(error), Some(dac)) => {
                eprintln!("{dac}: {error}");
                failed += 1;
                continue;
            }
        };
        let is_wanted =
            |instance: &Value| name(instance).contains(wanted) || labels(instance).contains(wanted);
        for mut instance in instances.into_iter().filter(is_wanted) {
            if let Some(dac) = dac {
                instance["dac"] = dac.as_str().into();
            }
            found.push(instance);
        }
    }
    // Nodes register in any order; their instances stay in that of their registration.
    found.sort_by(|one, other| text(one, "node").cmp(text(other, "node")));
    Ok((found, failed))
}

/// The name of a DAC, and its instances.
type Answer<'a> = (Option<&'a DacName>, Result<Vec<Value>, ClientError>);

/// Asks some DACs at the same time, so that those that hang are waited for once.
fn list_concurrently(servers: &[NamedServer]) -> Vec<Answer<'_>> {
    thread::scope(|scope| {
        let asking: Vec<_> =
            servers.iter().map(|(dac, server)| (dac.as_ref(), scope.spawn(|| instances(server)))).collect();
        let answers = asking.into_iter().map(|(dac, asking)| {
            (dac, asking.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        });
        answers.collect()
    })
}

fn instances(server: &Server) -> Result<Vec<Value>, ClientError> {
    let api = api::prompt(server)?;
    let mut answer = api.get("/instances", &[])?;
    let mut instances = answer["instances"].as_array_mut().map(std::mem::take).unwrap_or_default();
    let nodes = api.get("/nodes", &[])?;
    let labeled = nodes["nodes"].as_array().into_iter().flatten().filter(|node| node["labels"].is_object());
    let of_nodes: BTreeMap<&str, &Value> =
        labeled.map(|node| (text(node, "name"), &node["labels"])).collect();
    for instance in &mut instances {
        if let Some(labels) = of_nodes.get(text(instance, "node")) {
            let own = std::mem::replace(&mut instance["labels"], (*labels).clone());
            own.as_object().into_iter().flatten().for_each(|(key, value)| {
                instance["labels"][key] = value.clone();
            });
        }
    }
    Ok(instances)
}

/// The labels of an instance, those of its node included: `rack=7, site=graz`.
fn labels(instance: &Value) -> String {
    let label = |(key, value): (&String, &Value)| format!("{key}={}", value.as_str().unwrap_or_default());
    let labels = instance["labels"].as_object().into_iter().flatten().map(label);
    labels.collect::<Vec<_>>().join(", ")
}

fn name(instance: &Value) -> String {
    format!("{}/{}", text(instance, "node"), text(instance, "instance"))
}

fn text<'a>(instance: &'a Value, key: &str) -> &'a str {
    instance[key].as_str().unwrap_or_default()
}

fn print(found: &[Value], format: Format, is_folded: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if format == Format::Json {
        return found.iter().try_for_each(|instance| writeln!(out, "{instance}"));
    }
    let folded;
    let listed = match is_folded {
        true => {
            folded = fold_rules(found);
            &folded
        }
        false => found,
    };
    let has_dacs = found.iter().any(|instance| !instance["dac"].is_null());
    let has_labels = found.iter().any(|instance| instance["labels"].is_object());
    let columns = COLUMN_HEADINGS.into_iter().chain(has_labels.then_some("LABELS"));
    let head: Vec<&str> = columns.chain(has_dacs.then_some("DAC")).collect();
    let dac = |instance| has_dacs.then(|| Visible(text(instance, "dac")).to_string());
    let labels = |instance| has_labels.then(|| Visible(&labels(instance)).to_string());
    let cells = |instance| row(instance).into_iter().chain(labels(instance)).chain(dac(instance)).collect();
    let rows: Vec<Vec<String>> = listed.iter().map(cells).collect();
    // A program gets whole names.
    let rows = if io::stdout().is_terminal() { shortened(rows) } else { rows };
    table(&mut out, &head, &rows)
}

/// Replaces the instances that rules of a DAC compute by one row for each node that has more than one of them.
fn fold_rules(found: &[Value]) -> Vec<Value> {
    let is_of_rule = |instance: &Value| text(instance, "type").starts_with(RULE_TYPES);
    let place = |instance: &Value| (text(instance, "dac").to_owned(), text(instance, "node").to_owned());
    let mut counts: BTreeMap<_, usize> = BTreeMap::new();
    for instance in found.iter().filter(|instance| is_of_rule(instance)) {
        *counts.entry(place(instance)).or_default() += 1;
    }
    let mut listed = Vec::new();
    for instance in found {
        let count = if is_of_rule(instance) { counts.get_mut(&place(instance)) } else { None };
        match count {
            None | Some(1) => listed.push(instance.clone()),
            Some(0) => {}
            Some(count) => {
                let (mut row, node) = (instance.clone(), text(instance, "node"));
                row["type"] = format!("{count} of rules: oasis list {node}/").into();
                row["instance"] = "…".into();
                listed.push(row);
                *count = 0;
            }
        }
    }
    listed
}

/// Shortens long cells, so that one of them does not widen all rows.
fn shortened(mut rows: Vec<Vec<String>>) -> Vec<Vec<String>> {
    for cell in rows.iter_mut().flatten() {
        if let Some((end, _)) =
            cell.char_indices().nth(MAX_CELL_CHARS).and_then(|_| cell.char_indices().nth(MAX_CELL_CHARS - 1))
        {
            cell.truncate(end);
            cell.push('…');
        }
    }
    rows
}

/// Prints rows in columns; nothing without rows.
pub fn table(out: &mut impl Write, head: &[&str], rows: &[Vec<String>]) -> io::Result<()> {
    let head: Vec<String> = head.iter().map(|&cell| cell.to_owned()).collect();
    let all = || std::iter::once(&head).filter(|_| !rows.is_empty()).chain(rows);
    let mut widths = vec![0; head.len()];
    for row in all() {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    for row in all() {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
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
    fn a_long_name_does_not_widen_the_table_of_a_terminal() {
        let [short, full, long] = [59, 60, 300].map(|count| "ä".repeat(count));
        let rows = shortened(vec![vec![short.clone(), full.clone()], vec![long]]);
        assert_eq!(rows[0], [short.clone(), full]);
        assert_eq!(rows[1], [format!("{short}…")]);
    }

    #[test]
    fn instances_of_rules_are_one_row_for_each_node() {
        let instance = |node: &str, name: &str, of: &str| json!({"node": node, "instance": name, "type": of});
        let found = [
            instance("pump", "pump", "Demo::Pump"),
            instance("rules", "Hot", "OASIS::Rules::Results"),
            instance("rules", "Silent", "OASIS::Rules::Results"),
            instance("tank", "Full", "OASIS::Rules::Results"),
        ];
        let listed = fold_rules(&found);
        assert_eq!(listed.iter().map(name).collect::<Vec<_>>(), ["pump/pump", "rules/…", "tank/Full"]);
        assert_eq!(row(&listed[1])[1], "2 of rules: oasis list rules/");
    }

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
