//! `oasis run`: test runs, named spans of time.

mod arguments;
mod comparison;

pub use arguments::Arguments;

use crate::output_format::Format;
use anyhow::{Context, bail};
use arguments::{Description, Verb};
use oasis_client::Api;
use oasis_format::visible::Visible;
use oasis_site::api;
use oasis_wire::time;
use serde_json::{Value, json};
use std::io::{self, Write};
use ureq::http::Method;

/// Test runs of one request.
const PAGE: &str = "1000";

/// Runs a subcommand.
pub fn run(arguments: Arguments) -> anyhow::Result<()> {
    let api = api::at(&arguments.located.server(&[])?)?;
    let printed = print(&act(&api, arguments.verb)?, arguments.output.format());
    match printed {
        // `oasis run list | head` is not an error.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

/// The output.
enum Outcome {
    Run(Value),
    List(Vec<Value>),
    Comparison(Value),
    Deleted(String),
}

fn act(api: &Api, verb: Verb) -> anyhow::Result<Outcome> {
    let change = |name: &str, body: Value| -> anyhow::Result<Outcome> {
        Ok(Outcome::Run(api.send(Method::PATCH, &path(&named(api, name)?)?, Some(&body))?))
    };
    match verb {
        Verb::Start { name, description: Description { notes, tags }, pin } => {
            let body = json!({"name": name, "notes": notes.unwrap_or_default(), "tags": tags, "pinned": pin});
            Ok(Outcome::Run(api.send(Method::POST, "/test-runs", Some(&body))?))
        }
        Verb::Stop { name } => {
            let path = path(&named(api, &name)?)?;
            Ok(Outcome::Run(api.send(Method::POST, &format!("{path}/stop"), None)?))
        }
        Verb::List { tag } => {
            let runs = list(api, tag.as_deref())?;
            match (runs.is_empty(), tag) {
                (true, Some(tag)) => eprintln!("no test run with the tag {tag:?}"),
                (true, None) => eprintln!("no test runs yet: start one with `oasis run start NAME`"),
                _ => {}
            }
            Ok(Outcome::List(runs))
        }
        Verb::Show { name, only } => {
            let path = path(&named(api, &name)?)?;
            Ok(Outcome::Comparison(api.get(&format!("{path}/comparison"), &only.query())?))
        }
        Verb::Edit { renamed: None, description: Description { notes: None, tags }, .. }
            if tags.is_empty() =>
        {
            bail!("nothing to change: use --name NAME, --notes TEXT or --tag TAG")
        }
        Verb::Edit { name, renamed, description: Description { notes, tags } } => {
            let mut body = json!({});
            let given = [("name", renamed.map(Value::from)), ("notes", notes.map(Value::from))];
            let tags = (!tags.is_empty()).then(|| Value::from(tags));
            for (key, value) in given.into_iter().chain([("tags", tags)]) {
                if let Some(value) = value {
                    body[key] = value;
                }
            }
            change(&name, body)
        }
        Verb::Pin { name } => change(&name, json!({"pinned": true})),
        Verb::Unpin { name } => change(&name, json!({"pinned": false})),
        Verb::Delete { name } => {
            api.send(Method::DELETE, &path(&named(api, &name)?)?, None)?;
            Ok(Outcome::Deleted(name))
        }
        Verb::Compare { name, with, only } => {
            let path = path(&named(api, &name)?)?;
            let with = named(api, &with)?["id"].to_string();
            let mut query = only.query();
            query.push(("with", &*with));
            Ok(Outcome::Comparison(api.get(&format!("{path}/comparison"), &query)?))
        }
    }
}

fn named(api: &Api, name: &str) -> anyhow::Result<Value> {
    let list = api.get("/test-runs", &[("name", name)])?;
    let found = list["test_runs"].get(0).cloned();
    found.with_context(|| format!("no test run with the name {name:?}: list them with `oasis run list`"))
}

fn path(run: &Value) -> anyhow::Result<String> {
    let id = run["id"].as_u64().context("the DAC returned no number of the test run")?;
    Ok(format!("/test-runs/{id}"))
}

fn list(api: &Api, tag: Option<&str>) -> anyhow::Result<Vec<Value>> {
    let mut runs = Vec::new();
    let mut before = None;
    loop {
        let mut query = vec![("limit", PAGE)];
        query.extend(tag.map(|tag| ("tag", tag)));
        query.extend(before.as_deref().map(|before| ("before", before)));
        let mut list = api.get("/test-runs", &query)?;
        runs.append(list["test_runs"].as_array_mut().context("the DAC returned no test runs")?);
        match list["next"].as_u64() {
            Some(next) => before = Some(next.to_string()),
            None => return Ok(runs),
        }
    }
}

fn print(outcome: &Outcome, format: Format) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let as_json = format == Format::Json;
    match outcome {
        Outcome::Run(document) | Outcome::Comparison(document) if as_json => writeln!(out, "{document}"),
        Outcome::List(runs) if as_json => runs.iter().try_for_each(|run| writeln!(out, "{run}")),
        Outcome::Deleted(name) if as_json => writeln!(out, "{}", json!({"deleted": name})),
        Outcome::Run(run) => describe(&mut out, run),
        Outcome::List(runs) => runs.iter().try_for_each(|run| writeln!(out, "{}", line(run))),
        Outcome::Comparison(comparison) => comparison::print(&mut out, comparison),
        Outcome::Deleted(name) => {
            writeln!(out, "{name}: deleted; retention still applies to its samples")
        }
    }
}

/// Formats a test run in one line.
fn line(run: &Value) -> String {
    let text = |key: &str| run[key].as_str().unwrap_or_default();
    // To the second, for people.
    let time = |key: &str| run[key].as_u64().map(|time| time::format_digits(time, 0));
    let started = time("started").unwrap_or_default();
    let time = match time("stopped") {
        Some(stopped) => format!("{started} to {stopped}"),
        None => format!("since {started}"),
    };
    let pinned = if run["pinned"] == true { "  pinned" } else { "" };
    let tags: Vec<_> = run["tags"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let tags = if tags.is_empty() { String::new() } else { format!("  [{}]", tags.join(", ")) };
    format!("{}  {time}{pinned}{}", Visible(text("name")), Visible(&tags))
}

/// Prints the description of a test run.
fn describe(out: &mut impl Write, run: &Value) -> io::Result<()> {
    writeln!(out, "{}", line(run))?;
    if let Some(who) = run["who"].as_str().filter(|who| !who.is_empty()) {
        writeln!(out, "  started by {}", Visible(who))?;
    }
    let notes = run["notes"].as_str().unwrap_or_default();
    notes.lines().try_for_each(|line| writeln!(out, "  {}", Visible(&line.replace('\t', "    "))))
}
