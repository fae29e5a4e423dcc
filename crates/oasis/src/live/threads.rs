//! `oasis threads`: the threads that write to WebSockets, and how many there are.

use crate::{live::arguments::Threads, output_format::Format};
use oasis_site::api;
use serde_json::{Value, json};
use std::io::{self, Write};
use ureq::http::Method;

/// Column headings.
const COLUMN_HEADINGS: [&str; 8] =
    ["SHARD", "STATE", "CONNECTIONS", "CPU", "BYTES/S", "WAKEUPS/S", "LAG", "LONGEST"];

/// Changes the number of shards if one is given, and shows them.
pub fn run(arguments: Threads) -> anyhow::Result<()> {
    let api = api::at(&arguments.located.server(&[])?)?;
    let shards = match arguments.choice {
        None => api.get("/shards", &[])?,
        Some(choice) => api.send(Method::PUT, "/shards", Some(&json!({"shards": choice})))?,
    };
    match print(&shards, arguments.output.format()) {
        // `oasis threads | head` is not an error.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

fn print(shards: &Value, format: Format) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if format == Format::Json {
        return writeln!(out, "{shards}");
    }
    writeln!(out, "{}", summary(shards))?;
    writeln!(out, "{}", line(&COLUMN_HEADINGS.map(str::to_owned)))?;
    let threads = shards["threads"].as_array().into_iter().flatten();
    threads.map(row).try_for_each(|row| writeln!(out, "{}", line(&row)))
}

fn summary(shards: &Value) -> String {
    let number = |key: &str| shards[key].as_u64().unwrap_or_default();
    let chosen = match &shards["choice"] {
        Value::String(word) => word.clone(),
        Value::Number(number) if number.as_u64() == Some(0) => "one a core".into(),
        _ => "by hand".into(),
    };
    let counted = |key: &str| match number(key) {
        1 => format!("1 {}", key.trim_end_matches('s')),
        many => format!("{many} {key}"),
    };
    format!("{} ({chosen}) on {}", counted("shards"), counted("cores"))
}

fn row(shard: &Value) -> [String; 8] {
    let real = |key: &str| shard[key].as_f64().unwrap_or_default();
    [
        shard["number"].to_string(),
        shard["state"].as_str().unwrap_or_default().into(),
        shard["connections"].to_string(),
        format!("{:.1} %", 100.0 * real("cpu")),
        format!("{:.0}", real("bytes_per_second")),
        format!("{:.0}", real("wakeups_per_second")),
        format!("{:.2} ms", real("lag_ms")),
        format!("{:.2} ms", real("longest_lag_ms")),
    ]
}

/// Cells in columns as wide as their headings, numbers to the right.
fn line(cells: &[String; 8]) -> String {
    let [shard, state, rest @ ..] = cells;
    let rest: String = rest.iter().map(|cell| format!("{cell:>13}")).collect();
    format!("{shard:<6}{state:<8}{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_is_a_row_and_the_choice_is_said_in_words() {
        let shard = json!({"number": 3, "state": "open", "connections": 120, "cpu": 0.256, "bytes_per_second": 1234.6,
            "wakeups_per_second": 99.9, "lag_ms": 1.234, "longest_lag_ms": 12.0});
        let row = row(&shard);
        assert_eq!(row, ["3", "open", "120", "25.6 %", "1235", "100", "1.23 ms", "12.00 ms"]);
        assert!(line(&row).starts_with("3     open              120       25.6 %"), "{}", line(&row));
        for (choice, words) in
            [(json!(0), "(one a core)"), (json!(2), "(by hand)"), (json!("auto"), "(auto)")]
        {
            let shards = json!({"choice": choice, "shards": 2, "cores": 4});
            assert_eq!(summary(&shards), format!("2 shards {words} on 4 cores"));
        }
        let alone = json!({"choice": 1, "shards": 1, "cores": 1});
        assert_eq!(summary(&alone), "1 shard (by hand) on 1 core");
    }
}
