//! Statistics of one test run, or a comparison of two, as text.

use super::describe;
use oasis_format::visible::Visible;
use serde_json::Value;
use std::io::{self, Write};

/// Prints the response of `GET …/comparison`.
pub fn print(out: &mut impl Write, comparison: &Value) -> io::Result<()> {
    let is_pair = !comparison["with"].is_null();
    describe(out, &comparison["test_run"])?;
    if is_pair {
        describe(out, &comparison["with"])?;
    }
    for instance in comparison["instances"].as_array().into_iter().flatten() {
        let name = |key: &str| instance[key].as_str().unwrap_or_default();
        writeln!(out, "\n{}/{}", Visible(name("node")), Visible(name("instance")))?;
        let (mut rows, constant) = rows(&instance["summary"], &instance["with"]);
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
        if !constant.is_empty() {
            writeln!(out, "  constant: {}", constant.join(", "))?;
        }
    }
    if comparison["instances"].as_array().is_none_or(Vec::is_empty) {
        writeln!(out, "\nNothing is stored of that time.")?;
    }
    if comparison["more"] == true {
        writeln!(out, "\nMore instances exist: select some with --node or --instance.")?;
    }
    Ok(())
}

struct Row {
    name: String,
    first: String,
    second: String,
    change: String,
}

/// The name of a test run as a column heading.
fn short(name: &str) -> String {
    const MAX_NAME_CHARS: usize = 24;
    let name = Visible(name).to_string();
    match name.char_indices().nth(MAX_NAME_CHARS) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name,
    }
}

/// The rows of an instance, and its constant metrics.
fn rows(first: &Value, second: &Value) -> (Vec<Row>, Vec<String>) {
    let (mut rows, mut constants) = (Vec::new(), Vec::new());
    let mut row = |name: String, unit: &str, one: &Value, two: &Value| {
        let change = match (one.as_f64(), two.as_f64()) {
            (Some(one), Some(two)) if one != 0.0 => percent((two - one) / one.abs() * 100.0),
            _ => String::new(),
        };
        let name = Visible(&name).to_string();
        rows.push(Row { name, first: figure(one, unit), second: figure(two, unit), change });
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
        let [one, two] = [first, second].map(|side| metric(side, name));
        let both = [one, two].into_iter().filter(|side| !side.is_null());
        match both.map(constant).collect::<Option<Vec<_>>>().as_deref() {
            Some([value, others @ ..]) if others.iter().all(|other| other == value) => {
                constants.push(format!("{} {}", Visible(name), figure(value, unit)));
            }
            Some([_, ..]) => row(name.into(), unit, &one["last"], &two["last"]),
            _ if [one, two].iter().any(|side| side["increase"].is_number()) => {
                row(format!("{name} increase"), unit, &one["increase"], &two["increase"]);
                let a_second = format!("{unit}/s");
                row(format!("{name} rate"), &a_second, &one["increase_rate"], &two["increase_rate"]);
            }
            _ => {
                for key in ["min", "mean", "max"] {
                    row(format!("{name} {key}"), unit, &one[key], &two[key]);
                }
            }
        }
    }
    (rows, constants)
}

fn metric<'a>(side: &'a Value, name: &str) -> &'a Value {
    let mut metrics = side["metrics"].as_array().into_iter().flatten();
    metrics.find(|metric| metric["name"] == name).unwrap_or(&Value::Null)
}

/// The value of a constant metric.
fn constant(metric: &Value) -> Option<&Value> {
    let is_constant = metric["min"].is_number() && metric["min"] == metric["max"];
    is_constant.then_some(&metric["last"])
}

/// Instances of both, those of the first one first.
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

/// With one digit, and no sign before zero.
fn percent(change: f64) -> String {
    if change.abs() < 0.05 { "0.0 %".into() } else { format!("{change:+.1} %") }
}

fn figure(value: &Value, unit: &str) -> String {
    let number = match value.as_f64() {
        None => return "-".into(),
        Some(_) if value.is_u64() || value.is_i64() => value.to_string(),
        Some(number) if number == 0.0 || (1e-3..1e9).contains(&number.abs()) => {
            // Four digits, or all digits before the decimal point.
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
    // UCUM puts annotations, such as packets, in braces.
    match unit.replace(['{', '}'], "") {
        unit if unit.is_empty() => number,
        unit => format!("{number} {}", Visible(&unit)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn counters_show_their_increase_and_constants_share_a_line() {
        let run = json!({"name": "a", "started": 0, "stopped": 1, "tags": [], "who": "", "notes": ""});
        let counter = |increase: u64, rate: f64, last: u64| {
            json!({"name": "rx", "unit": "{packet}", "min": 7, "mean": 7.5, "max": last, "last": last,
                "increase": increase, "increase_rate": rate})
        };
        let flat = |name: &str, value: f64| json!({"name": name, "unit": null, "min": value, "mean": value, "max": value, "last": value});
        let summary = |metrics: Value| json!({"samples": 1, "rate": null, "intervals": null, "lost": {}, "metrics": metrics});
        let comparison = json!({
            "test_run": run, "with": run, "more": false,
            "instances": [{"node": "n", "instance": "i",
                "summary": summary(json!([counter(10, 2.5, 17), flat("mode", 1.0), flat("limit", 5.0)])),
                "with": summary(json!([counter(20, 5.0, 27), flat("mode", 2.0), flat("limit", 5.0)]))}],
        });
        let mut out = Vec::new();
        print(&mut out, &comparison).unwrap();
        let text = String::from_utf8(out).unwrap();
        let rows: Vec<_> = text.lines().skip_while(|line| !line.contains("interval p99")).skip(1).collect();
        let expected = [
            "  rx increase      10 packet   20 packet  +100.0 %",
            "  rx rate       2.5 packet/s  5 packet/s  +100.0 %",
            "  mode                     1           2  +100.0 %",
            "  constant: limit 5",
        ];
        assert_eq!(rows, expected, "{text}");
    }

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
