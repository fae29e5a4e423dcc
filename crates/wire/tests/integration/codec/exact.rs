//! Values and bytes as `vectors/README.md` writes them.

use oasis_wire::value::Value;
use serde_json::{Value as Json, json};

/// Numbers of 64 bits as text, reals as the hexadecimal digits of their bits: no language's JSON may round them.
pub fn exact(value: &Value) -> Json {
    match value {
        Value::Int(value) => json!(value.to_string()),
        Value::Uint(value) => json!(value.to_string()),
        Value::Real32(value) => json!({"bits": format!("{:08x}", value.to_bits())}),
        Value::Real64(value) => json!({"bits": format!("{:016x}", value.to_bits())}),
        Value::Boolean(value) => json!(value),
        Value::String(text) => json!({"text": text}),
        Value::Blob(bytes) => json!({"hex": hex(bytes)}),
        Value::Vector(values) | Value::Struct(values) => values.iter().map(exact).collect(),
    }
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
