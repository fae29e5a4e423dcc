//! `oasis handlers`: lists and controls the handlers of a DAC.

use crate::{
    live::arguments::{Handlers, HandlersAct},
    output_format::Format,
};
use oasis_client::Api;
use oasis_format::visible::Visible;
use oasis_site::api;
use serde_json::Value;
use std::io::{self, Write};
use ureq::http::Method;

/// Lists them, or starts or stops one.
pub fn run(arguments: Handlers) -> anyhow::Result<()> {
    let api = api::at(&arguments.located.server(&[])?)?;
    let handlers = match arguments.act {
        None => api.get("/handlers", &[])?["handlers"].as_array().cloned().unwrap_or_default(),
        Some(HandlersAct::Start { name }) => vec![switch(&api, &name, "start")?],
        Some(HandlersAct::Stop { name }) => vec![switch(&api, &name, "stop")?],
    };
    if handlers.is_empty() {
        eprintln!("no handlers: enable them in the configuration of the DAC (docs/reference/oasis.toml)");
    }
    match print(&handlers, arguments.output.format()) {
        // `oasis handlers | head` is not an error.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

fn switch(api: &Api, name: &str, act: &str) -> anyhow::Result<Value> {
    let path = format!("/handlers/{}/{act}", encoded(name));
    Ok(api.send(Method::POST, &path, None)?)
}

/// A name as a segment of a path (RFC 3986 2.3).
pub fn encoded(name: &str) -> String {
    let segment = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    name.bytes().map(segment).collect()
}

fn print(handlers: &[Value], format: Format) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if format == Format::Json {
        return handlers.iter().try_for_each(|handler| writeln!(out, "{handler}"));
    }
    handlers.iter().try_for_each(|handler| writeln!(out, "{}", row(handler)))
}

/// Returns the row of a handler, and a line for each of its warnings.
fn row(handler: &Value) -> String {
    let text = |key: &str| Visible(handler[key].as_str().unwrap_or_default()).to_string();
    let (name, detail) = (text("name"), text("detail"));
    let warnings: Vec<&str> =
        handler["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let condition = match warnings.len() {
        0 => text("condition"),
        count => format!("{}, {}", text("condition"), counted(count as u64, "warning")),
    };
    let restarts = match handler["restarts"].as_u64().unwrap_or_default() {
        0 => String::new(),
        count => counted(count, "restart"),
    };
    let mut row = format!("{name:<20}{condition:<24}{restarts:<14}{detail}").trim_end().to_owned();
    for warning in warnings {
        row += &format!("\n  {}", Visible(warning));
    }
    row
}

fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_handler_is_a_row() {
        let handler = json!({"name": "postgresql", "condition": "backing_off", "restarts": 2, "detail": "no\u{1b} disk"});
        assert_eq!(row(&handler), "postgresql          backing_off             2 restarts    no\\u{1b} disk");
        let handler = json!({"name": "openmetrics", "condition": "running", "restarts": 0, "detail": null});
        assert_eq!(row(&handler), "openmetrics         running");
        let handler = json!({"name": "postgresql_protocol", "condition": "running", "restarts": 1, "warnings": ["a\u{1b}", "b"]});
        assert_eq!(row(&handler), "postgresql_protocol running, 2 warnings     1 restart\n  a\\u{1b}\n  b");
        assert_eq!(encoded("a/b c"), "a%2Fb%20c");
    }
}
