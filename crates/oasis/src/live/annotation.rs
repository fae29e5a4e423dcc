//! `oasis annotation`: notes at a time or for a span.

use crate::{
    broken_pipe::is_broken_pipe,
    live::locate::Located,
    output_format::{Format, OutputFlags},
};
use anyhow::Context;
use clap::{Args, Subcommand};
use oasis_client::Api;
use oasis_format::visible::Visible;
use oasis_site::api;
use oasis_wire::time;
use serde_json::{Value, json};
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
    /// Add an annotation, now or at another time.
    #[command(after_help = "Examples:
  oasis annotation add 'pump 3 switched on'                  now, about everything
  oasis annotation add 'valve stuck' plant-7/processor plant-8 --time -5m
  oasis annotation add 'rain' --time 2026-05-04T12:00:00Z --to 2026-05-04T14:30:00Z")]
    Add {
        /// Text of the annotation, 1 to 4096 bytes.
        text: String,
        /// NODE or NODE/INSTANCE that it concerns [default: everything].
        about: Vec<About>,
        #[arg(help = format!("Time, or start of a span: {} [default: now]", time::FORMS), long, value_name = "TIME", allow_hyphen_values = true)]
        time: Option<String>,
        /// End of the span.
        #[arg(long, value_name = "TIME", alias = "until", allow_hyphen_values = true)]
        to: Option<String>,
    },
    /// List annotations by time.
    #[command(after_help = "Examples:
  oasis annotation list --from -1d
  oasis annotation list --node plant-7 --json | jq -r .text")]
    List {
        /// Only annotations that end at this time or later.
        #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
        from: Option<String>,
        /// Only annotations that begin before this time.
        #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
        to: Option<String>,
        /// Only annotations about this node, one of its instances, or everything.
        #[arg(long)]
        node: Option<String>,
        /// With --node: only annotations about this instance, the whole node, or everything.
        #[arg(long, requires = "node")]
        instance: Option<String>,
    },
    /// Delete an annotation.
    #[command(after_help = "Examples:
  oasis annotation delete 12")]
    Delete {
        /// Its number in the list.
        id: u64,
    },
}

/// The subject of an annotation.
#[derive(Debug, Clone)]
struct About(Value);

impl FromStr for About {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('/') {
            None if !text.is_empty() => Ok(Self(json!({"node": text}))),
            Some((node, instance)) if !node.is_empty() && !instance.is_empty() => {
                Ok(Self(json!({"node": node, "instance": instance})))
            }
            _ => Err("use NODE or NODE/INSTANCE, such as my-host/processor".into()),
        }
    }
}

/// Runs a subcommand.
pub fn run(arguments: Arguments) -> anyhow::Result<()> {
    let api = api::at(&arguments.located.server(&[])?)?;
    let printed = match arguments.verb {
        Verb::Add { text, about, time, to } => {
            let mut body =
                json!({"text": text, "targets": about.into_iter().map(|about| about.0).collect::<Vec<_>>()});
            for (key, time) in [("time", time), ("until", to)] {
                if let Some(time) = time {
                    body[key] = time.into();
                }
            }
            let added = api.send(Method::POST, "/annotations", Some(&body))?;
            print(&[added], arguments.output.format())
        }
        Verb::List { from, to, node, instance } => {
            let given = [("from", from), ("to", to), ("node", node), ("instance", instance)];
            let given = given.into_iter().filter_map(|(key, value)| Some((key, value?))).collect();
            let list = list(&api, given)?;
            if list.is_empty() {
                eprintln!("no annotations: add one with `oasis annotation add TEXT`");
            }
            print(&list, arguments.output.format())
        }
        Verb::Delete { id } => {
            api.send(Method::DELETE, &format!("/annotations/{id}"), None)?;
            match arguments.output.format() {
                Format::Json => writeln!(io::stdout(), "{}", json!({"deleted": id})),
                Format::Text => writeln!(io::stdout(), "{id}: deleted"),
            }
        }
    };
    match printed.map_err(anyhow::Error::from) {
        // `oasis annotation list | head` is not an error.
        Err(error) if is_broken_pipe(&error) => Ok(()),
        other => other,
    }
}

/// Fetches all pages.
fn list(api: &Api, mut query: Vec<(&str, String)>) -> anyhow::Result<Vec<Value>> {
    let mut all = Vec::new();
    loop {
        let asked: Vec<_> = query.iter().map(|(key, value)| (*key, value.as_str())).collect();
        let mut answer = api.get("/annotations", &asked)?;
        all.append(answer["annotations"].as_array_mut().context("the DAC returned no annotations")?);
        let Some(next) = answer["next"].as_str() else { return Ok(all) };
        query.retain(|(key, _)| *key != "after");
        query.push(("after", next.to_owned()));
    }
}

fn print(annotations: &[Value], format: Format) -> io::Result<()> {
    let mut out = io::stdout().lock();
    annotations.iter().try_for_each(|annotation| match format {
        Format::Json => writeln!(out, "{annotation}"),
        Format::Text => writeln!(out, "{}", line(annotation)),
    })
}

/// Formats an annotation in one line.
fn line(annotation: &Value) -> String {
    let time = |key: &str| annotation[key].as_u64().map(|time| time::format_digits(time, 0));
    let times = match time("until") {
        Some(until) => format!("{} to {until}", time("time").unwrap_or_default()),
        None => time("time").unwrap_or_default(),
    };
    let about: Vec<_> = annotation["targets"].as_array().into_iter().flatten().map(name).collect();
    let about = if about.is_empty() { String::new() } else { format!("  [{}]", about.join(", ")) };
    let text = annotation["text"].as_str().unwrap_or_default();
    format!("{}  {times}  {}{}", annotation["id"], Visible(text), Visible(&about))
}

fn name(target: &Value) -> String {
    let node = target["node"].as_str().unwrap_or_default();
    target["instance"].as_str().map_or(node.to_owned(), |instance| format!("{node}/{instance}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_annotation_is_a_line_that_steers_no_terminal() {
        let mut annotation = json!({"id": 12, "time": 1_763_683_200_000_000_000_u64, "until": null, "text": "pump\n3 \u{1b}[2J",
            "targets": [{"node": "plant-7", "instance": "pump 3"}, {"node": "plant-8", "instance": null}]});
        assert_eq!(
            line(&annotation),
            "12  2025-11-21T00:00:00Z  pump\\u{a}3 \\u{1b}[2J  [plant-7/pump 3, plant-8]"
        );
        annotation["until"] = json!(1_763_683_260_000_000_000_u64);
        annotation["targets"] = json!([]);
        annotation["text"] = json!("rain");
        assert_eq!(line(&annotation), "12  2025-11-21T00:00:00Z to 2025-11-21T00:01:00Z  rain");
    }

    #[test]
    fn an_annotation_concerns_a_node_or_an_instance() {
        assert_eq!("plant-7".parse::<About>().unwrap().0, json!({"node": "plant-7"}));
        let instance = json!({"node": "plant-7", "instance": "network/eth0"});
        assert_eq!("plant-7/network/eth0".parse::<About>().unwrap().0, instance);
        for text in ["", "/", "a/", "/a"] {
            assert!(text.parse::<About>().is_err(), "{text}");
        }
    }
}
