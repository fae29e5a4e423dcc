//! `oasis alarms`: alarms of a DAC, what operators do with them, and what happened.

mod arguments;
mod follow;
mod journal;
mod line;
mod statistics;

use crate::{broken_pipe::is_broken_pipe, live::list::table, output_format::Format};
use anyhow::Context;
pub use arguments::Arguments;
use arguments::{On, Only, Until, Verb};
use oasis_client::Api;
use oasis_site::api;
use serde_json::{Value, json};
use std::io::{self, Write};
use ureq::http::Method;

/// Runs a subcommand.
pub fn run(arguments: Arguments) -> anyhow::Result<()> {
    let api = api::at(&arguments.located.server(&[])?)?;
    let format = arguments.output.format();
    let done = match arguments.verb {
        None => list(&api, arguments.only, format),
        Some(Verb::Ack(on)) => act(&api, "acknowledge", on, json!({}), format),
        Some(Verb::Shelve { on, until: Until { duration, once } }) => {
            act(&api, "shelve", on, json!({"seconds": duration, "once": once}), format)
        }
        Some(Verb::Unshelve(on)) => act(&api, "unshelve", on, json!({}), format),
        Some(Verb::Suppress(on)) => act(&api, "suppress", on, json!({}), format),
        Some(Verb::Unsuppress(on)) => act(&api, "unsuppress", on, json!({}), format),
        Some(Verb::OutOfService(on)) => act(&api, "out-of-service", on, json!({}), format),
        Some(Verb::InService(on)) => act(&api, "in-service", on, json!({}), format),
        Some(Verb::Journal(which)) => journal::run(&api, which, format),
        Some(Verb::Statistics) => statistics::run(&api, format),
        Some(Verb::Follow) => follow::run(&api, format),
    };
    match done {
        // `oasis alarms | head` is not an error.
        Err(error) if is_broken_pipe(&error) => Ok(()),
        other => other,
    }
}

/// Lists alarms.
fn list(api: &Api, only: Only, format: Format) -> anyhow::Result<()> {
    let state = Some(if only.all { "all" } else { "standing" }.to_owned());
    let given = [
        ("state", state),
        ("rule", only.rule),
        ("node", only.node),
        ("instance", only.instance),
        ("severity", only.severity),
    ];
    let alarms = pages(api, "/alarms", "alarms", given, usize::MAX)?;
    if alarms.is_empty() {
        eprintln!("no alarm stands{}", if only.all { ", and none was raised yet" } else { "" });
    }
    print(&alarms, format, &line::COLUMN_HEADINGS, |alarm| line::row(alarm).to_vec())
}

/// Does something with an alarm, and prints it.
fn act(api: &Api, action: &str, on: On, details: Value, format: Format) -> anyhow::Result<()> {
    let target = on.target().context("no instance is named: use NODE/INSTANCE, or --node and --instance")?;
    let On { rule, comment, .. } = on;
    let mut body = json!({"rule": rule, "node": target.node, "instance": target.instance, "action": action, "comment": comment});
    if let (Value::Object(body), Value::Object(details)) = (&mut body, details) {
        body.extend(details);
    }
    let alarm = api.send(Method::POST, "/alarms/actions", Some(&body))?;
    print(&[alarm], format, &line::COLUMN_HEADINGS, |alarm| line::row(alarm).to_vec())
}

/// Fetches a list in pages, up to a number of items.
fn pages<const N: usize>(
    api: &Api,
    path: &str,
    name: &str,
    given: [(&str, Option<String>); N],
    most: usize,
) -> anyhow::Result<Vec<Value>> {
    let mut query: Vec<_> = given.into_iter().filter_map(|(key, value)| Some((key, value?))).collect();
    let mut all = Vec::new();
    while all.len() < most {
        let limit = (most - all.len()).min(1_000).to_string();
        let mut asked: Vec<_> = query.iter().map(|(key, value)| (*key, value.as_str())).collect();
        asked.push(("limit", &limit));
        let mut answer = api.get(path, &asked)?;
        all.append(answer[name].as_array_mut().with_context(|| format!("the DAC returned no {name}"))?);
        let next = match &answer["next"] {
            Value::String(next) => next.clone(),
            Value::Number(next) => next.to_string(),
            _ => break,
        };
        query.retain(|(key, _)| *key != "after");
        query.push(("after", next));
    }
    all.truncate(most);
    Ok(all)
}

/// Prints a table, or a line of JSON for each item.
fn print(
    items: &[Value],
    format: Format,
    head: &[&str],
    row: impl Fn(&Value) -> Vec<String>,
) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    match format {
        Format::Json => items.iter().try_for_each(|item| writeln!(out, "{item}"))?,
        Format::Text => table(&mut out, head, &items.iter().map(row).collect::<Vec<_>>())?,
    }
    Ok(())
}
