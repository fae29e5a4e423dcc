//! An alarm in one line. Texts of the DAC steer no terminal.

use oasis_format::visible::Visible;
use oasis_rules::displayed;
use oasis_wire::time;
use serde_json::Value;

/// Column headings.
pub const COLUMN_HEADINGS: [&str; 7] = ["STATE", "SEVERITY", "RULE", "INSTANCE", "VALUE", "RAISED", "TEXT"];

/// The cells of an alarm.
pub fn row(alarm: &Value) -> [String; 7] {
    let state = state(alarm);
    let comment = alarm["comment"].as_str().map(|comment| format!("“{comment}”"));
    let texts = [alarm["message"].as_str().map(str::to_owned), comment];
    let texts: Vec<_> = texts.into_iter().flatten().collect();
    [
        state,
        text(alarm, "severity"),
        text(alarm, "rule"),
        instance(alarm),
        value(alarm),
        moment(alarm, "raised"),
        Visible(&texts.join(" ")).to_string(),
    ]
}

/// The state, and what stands beside it.
fn state(alarm: &Value) -> String {
    let is = |key: &str| alarm[key] == true;
    let mut state = text(alarm, "state");
    if is("removed") {
        return "removed".into();
    }
    if state == "active" && is("acknowledged") {
        state = "acknowledged".into();
    }
    let shelved = match alarm["shelved_until"].as_u64() {
        Some(until) => Some(format!("shelved until {}", time::format_digits(until, 0))),
        None => is("shelved_once").then(|| "shelved once".into()),
    };
    let beside = [
        shelved,
        is("suppressed").then(|| "suppressed".into()),
        is("out_of_service").then(|| "out of service".into()),
        (alarm["quality"] == "unknown").then(|| "unknown".into()),
    ];
    beside.into_iter().flatten().fold(state, |state, beside| format!("{state}, {beside}"))
}

/// `NODE/INSTANCE`
pub fn instance(of: &Value) -> String {
    format!("{}/{}", text(of, "node"), text(of, "instance"))
}

/// The value and its limit.
pub fn value(of: &Value) -> String {
    let unit = of["unit"].as_str().map(|unit| Visible(unit).to_string());
    let number = |value| displayed(value, unit.as_deref());
    match (of["value"].as_f64(), of["limit"].as_f64()) {
        (Some(value), Some(limit)) => format!("{} (limit {})", number(value), number(limit)),
        (Some(value), None) => number(value),
        _ => "-".into(),
    }
}

/// A time to the second.
pub fn moment(of: &Value, key: &str) -> String {
    of[key].as_u64().map_or("-".into(), |time| time::format_digits(time, 0))
}

/// A text of the DAC.
pub fn text(of: &Value, key: &str) -> String {
    Visible(of[key].as_str().unwrap_or_default()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_alarm_is_a_line_that_steers_no_terminal() {
        let mut alarm = json!({"rule": "Hot\u{1b}[2J", "node": "plant-7", "instance": "pump 3", "state": "active",
            "acknowledged": false, "severity": "high", "quality": "good", "value": 97.5, "limit": 95.0, "unit": "Cel",
            "raised": 1_763_683_200_000_000_000_u64, "message": "hot\n", "comment": "on my way"});
        let cells = [
            "active",
            "high",
            "Hot\\u{1b}[2J",
            "plant-7/pump 3",
            "97.5 °C (limit 95 °C)",
            "2025-11-21T00:00:00Z",
        ];
        assert_eq!(row(&alarm)[..6], cells);
        assert_eq!(row(&alarm)[6], "hot\\u{a} “on my way”");
        alarm["acknowledged"] = json!(true);
        alarm["quality"] = json!("unknown");
        alarm["shelved_until"] = json!(1_763_683_200_000_000_000_u64);
        alarm["suppressed"] = json!(true);
        assert_eq!(row(&alarm)[0], "acknowledged, shelved until 2025-11-21T00:00:00Z, suppressed, unknown");
        assert_eq!(row(&json!({"removed": true}))[0], "removed");
    }
}
