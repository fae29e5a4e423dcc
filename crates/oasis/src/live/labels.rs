//! `oasis label`: free `key=value` pairs of nodes and instances.

use crate::{
    broken_pipe::is_broken_pipe,
    live::{list::table, locate::Located, unknown},
    output_format::{Format, OutputFlags},
};
use anyhow::bail;
use clap::{Args, Subcommand};
use oasis_client::Api;
use oasis_dac::settings::check_label;
use oasis_format::visible::Visible;
use oasis_site::api;
use oasis_wire::pattern::matches;
use serde_json::{Map, Value, json};
use std::{
    io::{self, Write},
    str::FromStr,
};
use ureq::http::Method;

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
    /// Set labels; others stay.
    Set {
        /// NODE or NODE/INSTANCE; a `*` in it matches any text.
        of: String,
        /// KEY=VALUE
        #[arg(required = true)]
        labels: Vec<Pair>,
    },
    /// Remove labels.
    Remove {
        /// NODE or NODE/INSTANCE; a `*` in it matches any text.
        of: String,
        /// Keys of the labels.
        #[arg(required = true)]
        keys: Vec<String>,
    },
    /// List labels by node and instance.
    List {
        /// Only labels whose names or KEY=VALUE contain this text.
        text: Option<String>,
    },
}

/// A label as typed.
#[derive(Debug, Clone)]
struct Pair(String, String);

impl FromStr for Pair {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (key, value) = text.split_once('=').ok_or("use KEY=VALUE, such as site=graz")?;
        check_label(key, value).map_err(|error| error.to_string())?;
        Ok(Self(key.into(), value.into()))
    }
}

/// Runs a subcommand.
pub fn run(arguments: Arguments) -> anyhow::Result<()> {
    let Arguments { verb, located, output } = arguments;
    let format = output.format();
    let labels = match verb {
        Verb::List { text } => return list(&located, &text.unwrap_or_default(), format),
        Verb::Set { of, labels } => {
            (of, labels.into_iter().map(|Pair(key, value)| (key, Value::from(value))).collect())
        }
        Verb::Remove { of, keys } => (of, keys.into_iter().map(|key| (key, Value::Null)).collect()),
    };
    change(&located, &labels.0, &Value::Object(labels.1), format)
}

/// Sets labels of all that match, at each DAC that has them.
fn change(located: &Located, of: &str, labels: &Value, format: Format) -> anyhow::Result<()> {
    let mut found = 0;
    for (_, server) in located.servers()? {
        let api = api::at(&server)?;
        for body in targets(&api, of)? {
            found += 1;
            let mut body = Value::Object(body);
            body["labels"] = labels.clone();
            let done = api.send(Method::PATCH, "/labels", Some(&body))?;
            body["labels"] = done["labels"].clone();
            match format {
                Format::Json => writeln!(io::stdout(), "{body}")?,
                Format::Text => {
                    writeln!(io::stdout(), "{}: {}", Visible(&name(&body)), Visible(&pairs(&body)))?
                }
            }
        }
    }
    if found == 0 {
        bail!("no node or instance matches {of}: list them with `oasis list`");
    }
    Ok(())
}

/// The nodes or instances of a DAC that match, as fields of a request.
fn targets(api: &Api, of: &str) -> anyhow::Result<Vec<Map<String, Value>>> {
    let (path, list, keys): (_, _, &[(&str, &str)]) = match of.contains('/') {
        false => ("/nodes", "nodes", &[("node", "name")]),
        true => ("/instances", "instances", &[("node", "node"), ("instance", "instance")]),
    };
    let answer = api.get(path, &[])?;
    let all = answer[list].as_array().into_iter().flatten();
    let fields =
        all.map(|entry| keys.iter().map(|(to, from)| ((*to).into(), entry[*from].clone())).collect());
    let mut fields: Vec<Map<String, Value>> = fields.collect();
    // Also of what has not come back since the DAC started.
    let kept = api.get("/labels", &[])?;
    for label in kept["labels"].as_array().into_iter().flatten() {
        let known: Map<_, _> = keys.iter().map(|(to, _)| ((*to).into(), label[*to].clone())).collect();
        let is_such = label["instance"].is_null() == (keys.len() == 1);
        if is_such && !fields.contains(&known) {
            fields.push(known);
        }
    }
    let called = |entry: &Map<String, Value>| name(&Value::Object(entry.clone()));
    // A name may have a star in it.
    let is_exact = fields.iter().any(|entry| called(entry) == of);
    let fits = |entry: &Map<String, Value>| {
        if is_exact { called(entry) == of } else { matches(of, &called(entry)) }
    };
    Ok(fields.into_iter().filter(fits).collect())
}

fn list(located: &Located, wanted: &str, format: Format) -> anyhow::Result<()> {
    let mut found = Vec::new();
    for (_, server) in located.servers()? {
        let mut answer = api::prompt(&server)?.get("/labels", &[])?;
        found.extend(answer["labels"].as_array_mut().map(std::mem::take).unwrap_or_default());
    }
    let all: Vec<String> = found.iter().flat_map(|label| [name(label), pair(label)]).collect();
    found.retain(|label| unknown::fits(wanted, &name(label)) || unknown::fits(wanted, &pair(label)));
    if all.is_empty() {
        eprintln!("no labels: set one with `oasis label set NODE KEY=VALUE`");
    } else if found.is_empty() {
        eprintln!("{}", unknown::nothing_fits("label", wanted, &all, "oasis label list"));
    }
    let row = |label: &Value| [name(label), pair(label)].map(|cell| Visible(&cell).to_string()).to_vec();
    let mut out = io::stdout().lock();
    let printed = match format {
        Format::Json => found.iter().try_for_each(|label| writeln!(out, "{label}")),
        Format::Text => table(&mut out, &["OF", "LABEL"], &found.iter().map(row).collect::<Vec<_>>()),
    };
    match printed.map_err(anyhow::Error::from) {
        // `oasis label list | head` is not an error.
        Err(error) if is_broken_pipe(&error) => Ok(()),
        other => other,
    }
}

fn name(of: &Value) -> String {
    let node = of["node"].as_str().unwrap_or_default();
    of["instance"].as_str().map_or(node.to_owned(), |instance| format!("{node}/{instance}"))
}

fn pair(label: &Value) -> String {
    format!("{}={}", label["key"].as_str().unwrap_or_default(), label["value"].as_str().unwrap_or_default())
}

fn pairs(of: &Value) -> String {
    let labels = of["labels"].as_object().into_iter().flatten();
    let pairs: Vec<_> = labels.map(|(key, value)| pair(&json!({"key": key, "value": value}))).collect();
    if pairs.is_empty() { "no labels".into() } else { pairs.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_a_key_and_a_value() {
        let Pair(key, value) = "site=graz=1".parse().unwrap();
        assert_eq!((&*key, &*value), ("site", "graz=1"));
        for text in ["site", "=graz", "a\n=b"] {
            assert!(text.parse::<Pair>().is_err(), "{text:?}");
        }
    }
}
