//! `oasis alarms statistics`

use super::line;
use crate::{live::list::table, output_format::Format};
use oasis_client::Api;
use serde_json::Value;
use std::io::{self, Write};

/// Prints the figures.
pub fn run(api: &Api, format: Format) -> anyhow::Result<()> {
    let figures = api.get("/alarms/statistics", &[])?;
    let mut out = io::stdout().lock();
    match format {
        Format::Json => writeln!(out, "{figures}")?,
        Format::Text => write(&mut out, &figures)?,
    }
    Ok(())
}

fn write(out: &mut impl Write, figures: &Value) -> io::Result<()> {
    let number = |value: &Value| value.as_u64().unwrap_or_default();
    let standing = |severity: &str| format!("{} {severity}", number(&figures["standing"][severity]));
    let standing = ["critical", "high", "medium", "low"].map(standing).join(", ");
    writeln!(out, "standing: {standing}; {} not acknowledged", number(&figures["unacknowledged"]))?;
    let count = |key: &str, name: &str| format!("{} {name}", number(&figures[key]));
    let silenced =
        [("shelved", "shelved"), ("suppressed", "suppressed"), ("out_of_service", "out of service")];
    let silenced = silenced.map(|(key, name)| count(key, name)).join(", ");
    writeln!(out, "silenced: {silenced}; {} unknown", number(&figures["unknown"]))?;
    let raised = |key: &str| number(&figures["raised"][key]);
    let (minutes, hour, day) = (raised("ten_minutes"), raised("hour"), raised("day"));
    writeln!(out, "raised: {minutes} in 10 minutes, {hour} in an hour, {day} in a day")?;
    let rows = |key: &str, cell: &dyn Fn(&Value) -> String| -> Vec<Vec<String>> {
        let list = figures[key].as_array().into_iter().flatten();
        list.map(|alarm| vec![cell(alarm), line::text(alarm, "rule"), line::instance(alarm)]).collect()
    };
    let frequent = rows("most_frequent", &|alarm| number(&alarm["count"]).to_string());
    table(out, &["RAISED IN AN HOUR", "RULE", "INSTANCE"], &frequent)?;
    let longest = rows("longest_standing", &|alarm| line::moment(alarm, "since"));
    table(out, &["STANDS SINCE", "RULE", "INSTANCE"], &longest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn figures_are_a_page_for_people() {
        let figures = json!({"standing": {"high": 2, "low": 1}, "unacknowledged": 1, "shelved": 3, "unknown": 4,
            "raised": {"ten_minutes": 1, "hour": 9, "day": 40},
            "most_frequent": [{"rule": "Hot", "node": "a", "instance": "b", "count": 6}], "longest_standing": []});
        let mut out = Vec::new();
        write(&mut out, &figures).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "standing: 0 critical, 2 high, 0 medium, 1 low; 1 not acknowledged
silenced: 3 shelved, 0 suppressed, 0 out of service; 4 unknown
raised: 1 in 10 minutes, 9 in an hour, 40 in a day
RAISED IN AN HOUR  RULE  INSTANCE
6                  Hot   a/b
"
        );
    }
}
