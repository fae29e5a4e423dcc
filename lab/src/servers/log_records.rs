//! Log records as a plant writes them, for searches.

use oasis_ei_node::{Field, LogLevel, LogProbe};

/// The instance that logs.
pub const LOG: &str = "log";
/// A word of every tenth record.
pub const FREQUENT: &str = "pressure";
/// A word of three records, of which the newest one is older than half of all.
pub const RARE_WORD: &str = "watchdog";
/// A word of no record.
pub const ABSENT: &str = "zeppelin";
/// The name of a field of every record, whose values are unique.
pub const FIELD: &str = "request";

const MESSAGES: [&str; 10] = [
    "pressure in line 4 is back to normal",
    "valve opened after 120 ms, waiting for the position switch",
    "pump 2 started at half speed",
    "connection to the inverter is alive",
    "cycle took longer than planned, the next one starts late",
    "motor temperature is within its limits",
    "operator changed the set point of the mixer",
    "wrote 4096 bytes to the journal",
    "received a telegram from the scale",
    "batch finished without remarks",
];

/// Returns record `number` of `of` records, counted from 1.
pub fn record(number: u64, of: u64) -> LogProbe {
    let message = MESSAGES[(number % MESSAGES.len() as u64) as usize];
    let is_rare = [of / 10, of / 5, of / 3].contains(&number);
    LogProbe {
        level: level(number, of),
        target: "plant::control".into(),
        message: if is_rare {
            format!("{RARE_WORD} barked: {message}")
        } else {
            format!("{message} ({number})")
        },
        file: "src/control.rs".into(),
        line: 100 + (number % 10) as u32,
        thread: "control".into(),
        span: "cycle".into(),
        fields: vec![Field { name: FIELD.into(), value: request(number) }],
        cut: 0,
    }
}

/// The value of the field of a record.
pub fn request(number: u64) -> String {
    format!("{:016x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// Two of them are fatal, long ago; of 1,000 records one is an error, and 10 are warnings.
fn level(number: u64, of: u64) -> LogLevel {
    match number {
        _ if number == of / 8 || number == of / 4 => LogLevel::Fatal,
        _ if number % 1_000 == 999 => LogLevel::Error,
        _ if number % 100 == 99 => LogLevel::Warn,
        _ => LogLevel::Info,
    }
}
