//! The row of one instance in a fleet.

use oasis_wire::quantity::TopicId;
use serde::{Serialize, Serializer, ser::SerializeSeq};
use serde_json::Value as Json;

/// Whether samples are expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Its node is not connected, or has registered other instances.
    #[default]
    Offline,
    /// Its node is connected.
    Online,
    /// The instance is disabled.
    Disabled,
}

/// Standing alarms by severity: low, medium, high, critical.
pub type AlarmCounts = [u32; 4];

/// The figures of an instance in a round.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Row {
    pub state: State,
    /// The rate that its probe runs at; none if that is unknown, or if the application decides.
    pub hertz: Option<f64>,
    /// When the newest batch arrived, on the DAC's clock; 0 before the first.
    pub arrived: u64,
    pub received: u64,
    /// Missing samples with a known cause, without those that a flight recorder kept back.
    pub explained: u64,
    /// Missing samples without one.
    pub unexplained: u64,
    pub alarms: AlarmCounts,
    /// The newest value of each metric.
    pub values: Vec<Json>,
}

/// A row as it is written: `[id, state, hertz, age, received, explained, unexplained, alarms, values...]`.
#[derive(Debug)]
pub struct WrittenRow<'a> {
    pub topic: TopicId,
    pub row: &'a Row,
    /// When it is written, on the DAC's clock.
    pub now: u64,
}

impl Serialize for WrittenRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let row = self.row;
        let mut list = serializer.serialize_seq(Some(8 + row.values.len()))?;
        list.serialize_element(&self.topic.0)?;
        list.serialize_element(&row.state)?;
        list.serialize_element(&row.hertz)?;
        // Milliseconds: short, and exact enough for an age.
        let age = (row.arrived > 0).then(|| self.now.saturating_sub(row.arrived) / 1_000_000);
        list.serialize_element(&age)?;
        list.serialize_element(&row.received)?;
        list.serialize_element(&row.explained)?;
        list.serialize_element(&row.unexplained)?;
        if row.alarms == AlarmCounts::default() {
            list.serialize_element(&0)?;
        } else {
            list.serialize_element(&row.alarms)?;
        }
        row.values.iter().try_for_each(|value| list.serialize_element(value))?;
        list.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_row_is_a_short_list() {
        let row = Row {
            state: State::Online,
            hertz: Some(2.0),
            arrived: 3_000_000,
            received: 9,
            explained: 1,
            values: vec![json!(0.5), Json::Null],
            ..Row::default()
        };
        let written =
            |row| serde_json::to_value(WrittenRow { topic: TopicId(7), row, now: 10_000_000 }).unwrap();
        assert_eq!(written(&row), json!([7, "online", 2.0, 7, 9, 1, 0, 0, 0.5, null]));
        let row = Row { arrived: 0, alarms: [0, 0, 1, 2], values: vec![], ..row };
        assert_eq!(written(&row), json!([7, "online", 2.0, null, 9, 1, 0, [0, 0, 1, 2]]));
    }
}
