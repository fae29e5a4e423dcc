//! `oasis notify`: the destinations of notifications, and a test of one.

use crate::{
    live::arguments::{Notify, NotifyAct},
    output_format::Format,
};
use oasis_format::visible::Visible;
use oasis_site::api;
use serde_json::{Value, json};
use std::io::{self, Write};
use ureq::http::Method;

/// Column headings.
const COLUMN_HEADINGS: [&str; 7] =
    ["DESTINATION", "KIND", "STATE", "WAITING", "DELIVERED", "FAILED", "LAST ERROR"];

/// Lists the destinations, or tests one.
pub fn run(arguments: Notify) -> anyhow::Result<()> {
    let api = api::at(&arguments.located.server(&[])?)?;
    let printed = match arguments.act {
        NotifyAct::List { output } => {
            let list = api.get("/notifications", &[])?["destinations"].take();
            let destinations = list.as_array().map(Vec::as_slice).unwrap_or_default();
            if destinations.is_empty() {
                eprintln!(
                    "no destinations: add tables [notify.NAME] to the configuration of the DAC (docs/reference/oasis.toml)"
                );
            }
            print(destinations, output.format())
        }
        NotifyAct::Test { name } => {
            api.send(Method::POST, "/notifications/test", Some(&json!({"destination": name})))?;
            writeln!(io::stdout().lock(), "{} has accepted the test", Visible(&name))
        }
    };
    match printed {
        // `oasis notify list | head` is not an error.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

fn print(destinations: &[Value], format: Format) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if format == Format::Json {
        return destinations.iter().try_for_each(|destination| writeln!(out, "{destination}"));
    }
    if destinations.is_empty() {
        return Ok(());
    }
    writeln!(out, "{}", line(&COLUMN_HEADINGS.map(str::to_owned)))?;
    destinations.iter().map(row).try_for_each(|row| writeln!(out, "{}", line(&row)))
}

fn row(destination: &Value) -> [String; 7] {
    let text = |key: &str| Visible(destination[key].as_str().unwrap_or_default()).to_string();
    let number = |key: &str| destination[key].as_u64().unwrap_or_default().to_string();
    let (waiting, delivered, failed) = (number("waiting"), number("delivered"), number("failed"));
    [text("name"), text("kind"), text("state"), waiting, delivered, failed, text("last_error")]
}

fn line([name, kind, state, waiting, delivered, failed, error]: &[String; 7]) -> String {
    format!("{name:<18}{kind:<14}{state:<9}{waiting:>8}{delivered:>11}{failed:>8}  {error}")
        .trim_end()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_destination_is_a_row() {
        let pager = json!({"name": "pager", "kind": "webhook", "state": "failing", "waiting": 3, "delivered": 12,
            "failed": 0, "last_error": "answered 503\u{1b}"});
        let shown = line(&row(&pager));
        assert_eq!(
            shown,
            "pager             webhook       failing         3         12       0  answered 503\\u{1b}"
        );
        assert_eq!(
            line(&COLUMN_HEADINGS.map(str::to_owned)).find("WAITING"),
            shown.find('3').map(|end| end - 6)
        );
    }
}
