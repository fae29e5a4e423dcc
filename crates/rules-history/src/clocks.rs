//! The offsets of the clocks of nodes, which a DAC has measured: samples like all others.

use oasis_rules::{
    ClockOffset, Rows,
    program::{Column, Input},
};

/// The probe type of measured clocks.
pub const CLOCK_TYPE: &str = "OASIS::Clock";

/// The name of the instance with the measurements of a node's clock.
pub fn clock_name(node: &str) -> String {
    format!("clock {node}")
}

/// Returns the input that reads such an instance.
pub fn clock_input() -> Input {
    let column =
        |name: &str| Column { path: vec![name.into()], unit: Some("ns".into()), enumerators: Vec::new() };
    Input {
        name: String::new(),
        pattern: "*".into(),
        probe_type: CLOCK_TYPE.into(),
        columns: vec![column("offset"), column("uncertainty")],
        schemas: Vec::new(),
    }
}

/// The newest measurement of a batch, if it is one.
pub fn newest_offset(rows: &Rows) -> Option<ClockOffset> {
    let newest = |column: usize| rows.columns.get(column)?.last().copied().filter(|value| value.is_finite());
    Some(ClockOffset { offset: newest(0)? as i64, uncertainty: newest(1)? as u64 })
}
