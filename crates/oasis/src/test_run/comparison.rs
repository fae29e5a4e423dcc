//! One test run in figures, or two side by side, as text.

use super::describe;
use crate::visible::Visible;
use serde_json::Value;
use std::io::{self, Write};

/// Prints what `GET …/comparison` answers.
pub fn print(out: &mut impl Write, comparison: &Value) -> io::Result<()> {
    let is_pair = !comparison["with"].is_null();
    describe(out, &comparison["test_run"])?;
    if is_pair {
        describe(out, &comparison["with"])?;
    }
    for instance in comparison["instances"].as_array().into_iter().flatten() {
        let name = |key: &str| instance[key].as_str().unwrap_or_default();
        writeln!(out, "\n{}/{}", Visible(name("node")), Visible(name("instance")))?;
        let mut rows = rows(&instance["summary"], &instance["with"]);
        if is_pair {
            let head = |run: &str| short(comparison[run]["name"].as_str().unwrap_or_default());
            let change = "change".into();
            rows.insert(
                0,
                Row { name: String::new(), first: head("test_run"), second: head("with"), change },
            );
        }
        let width =
            |text: fn(&Row) -> &str| rows.iter().map(|row| text(row).chars().count()).max().unwrap_or(0);
        let (names, firsts, seconds) =
            (width(|row| &row.name), width(|row| &row.first), width(|row| &row.second));
        for Row { name, first, second, change } in &rows {
            let line = match is_pair {
                true => format!("  {name:names$}  {first:>firsts$}  {second:>seconds$}  {change}"),
                false => format!("  {name:names$}  {first:>firsts$}"),
            };
            writeln!(out, "{}", line.trim_end())?;
        }
    }
    if comparison["more"] == true {
        writeln!(out, "\nThere are more instances: name some with --node or --instance.")?;
    }
    Ok(())
}

struct Row {
    name: String,
    first: String,
    second: String,
    change: String,
}

/// A test run's name, at the head of a column.
fn short(name: &str) -> String {
    const LONGEST: usize = 24;
    let name = Visible(name).to_string();
    match name.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name,
    }
}

fn rows(first: &Value, second: &Value) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut row = |name: String, unit: &str, one: &Value, two: &Value| {
        let change = match (one.as_f64(), two.as_f64()) {
            (Some(one), Some(two)) if one != 0.0 => format!("{:+.1} %", (two - one) / one.abs() * 100.0),
            _ => String::new(),
        };
        let (name, unit) = (Visible(&name).to_string(), Visible(unit).to_string());
        rows.push(Row { name, first: figure(one, &unit), second: figure(two, &unit), change });
    };
    row("samples".into(), "", &first["samples"], &second["samples"]);
    row("rate".into(), "/s", &first["rate"], &second["rate"]);
    for quantile in ["p50", "p99"] {
        let of =
            |side: &Value| side["intervals"][quantile].as_f64().map_or(Value::Null, |ns| (ns / 1e6).into());
        row(format!("interval {quantile}"), "ms", &of(first), &of(second));
    }
    for cause in keys(&first["lost"], &second["lost"]) {
        row(format!("lost, {cause}"), "", &first["lost"][cause], &second["lost"][cause]);
    }
    for (name, unit) in metrics(first, second) {
        let of = |side: &Value, key: &str| {
            let mut metrics = side["metrics"].as_array().into_iter().flatten();
            metrics.find(|metric| metric["name"] == name).map_or(Value::Null, |metric| metric[key].clone())
        };
        for key in ["min", "mean", "max"] {
            row(format!("{name} {key}"), unit, &of(first, key), &of(second, key));
        }
    }
    rows
}

/// Of both, those of the first one first.
fn keys<'a>(first: &'a Value, second: &'a Value) -> Vec<&'a str> {
    let of = |side: &'a Value| side.as_object().into_iter().flatten().map(|(key, _)| key.as_str());
    let mut keys: Vec<_> = of(first).collect();
    keys.extend(of(second).filter(|key| first.get(key).is_none()));
    keys
}

/// Names and units of both, those of the first one first.
fn metrics<'a>(first: &'a Value, second: &'a Value) -> Vec<(&'a str, &'a str)> {
    let mut found: Vec<(&str, &str)> = Vec::new();
    for metric in [first, second].iter().filter_map(|side| side["metrics"].as_array()).flatten() {
        let name = metric["name"].as_str().unwrap_or_default();
        if found.iter().all(|(known, _)| *known != name) {
            found.push((name, metric["unit"].as_str().unwrap_or_default()));
        }
    }
    found
}

fn figure(value: &Value, unit: &str) -> String {
    let number = match value.as_f64() {
        None => return "-".into(),
        Some(_) if value.is_u64() || value.is_i64() => value.to_string(),
        Some(number) if number == 0.0 || (1e-3..1e9).contains(&number.abs()) => {
            // Four digits, and no fewer than there are in front of the point.
            let places = (3.0 - number.abs().max(1e-3).log10().floor()).clamp(0.0, 6.0) as usize;
            let text = format!("{number:.places$}");
            if !text.contains('.') {
                text
            } else {
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            }
        }
        Some(number) => format!("{number:.3e}"),
    };
    if unit.is_empty() { number } else { format!("{number} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn two_runs_stand_side_by_side_with_the_change() {
        let run = |name: &str| json!({"name": name, "started": 0, "stopped": 1_000_000_000_u64, "tags": [], "who": "", "notes": ""});
        let comparison = json!({
            "test_run": run("a"), "with": run("b"), "more": false,
            "instances": [{"node": "n", "instance": "i",
                "summary": {"samples": 100, "rate": 10.0, "intervals": {"p50": 1_000_439, "p99": 2_500_000}, "lost": {"ring_full": 3},
                    "metrics": [{"name": "t\u{9b}", "unit": "Cel", "min": 1.0, "mean": 2.0, "max": 1e12}]},
                "with": {"samples": 150, "rate": null, "intervals": null, "lost": {}, "metrics": []}}],
        });
        let mut out = Vec::new();
        print(&mut out, &comparison).unwrap();
        let expected = [
            "a  1970-01-01T00:00:00Z to 1970-01-01T00:00:01Z",
            "b  1970-01-01T00:00:00Z to 1970-01-01T00:00:01Z",
            "",
            "n/i",
            "                              a    b  change",
            "  samples                   100  150  +50.0 %",
            "  rate                    10 /s    -",
            "  interval p50             1 ms    -",
            "  interval p99           2.5 ms    -",
            "  lost, ring_full             3    -",
            r"  t\u{9b} min             1 Cel    -",
            r"  t\u{9b} mean            2 Cel    -",
            r"  t\u{9b} max      1.000e12 Cel    -",
        ];
        assert_eq!(String::from_utf8(out).unwrap().lines().collect::<Vec<_>>(), expected);
    }
}
