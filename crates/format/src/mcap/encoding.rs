//! Schemas and messages of an export, in each encoding.

use super::json_schema;
use crate::{
    MessageEncoding, WriteError,
    message_types::MessageTypes,
    protobuf,
    ros::{self, Layout},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use oasis_wire::{
    schema::ProbeType,
    value::{self, Value},
};

/// The schema of a channel.
#[derive(Debug)]
pub struct EncodedSchema {
    /// The name of the type.
    pub name: String,
    /// The language of the schema, as MCAP names it.
    pub encoding: &'static str,
    /// The schema.
    pub data: Vec<u8>,
}

impl EncodedSchema {
    /// Describes the messages of a probe type.
    ///
    /// # Errors
    /// If the encoding cannot have the type, such as vectors nested too deep.
    pub fn of(probe_type: &ProbeType, encoding: MessageEncoding) -> Result<Self, WriteError> {
        let types = || MessageTypes::of(probe_type);
        let schema = match encoding {
            MessageEncoding::Json => Self {
                name: probe_type.name.clone(),
                encoding: "jsonschema",
                data: serde_json::to_vec(&json_schema::of(probe_type))?,
            },
            MessageEncoding::Cdr => {
                let types = types();
                let data = ros::definition(&types).into_bytes();
                Self { name: types.full_name(0, "/msg/"), encoding: "ros2msg", data }
            }
            MessageEncoding::Protobuf => {
                let types = types();
                let data = protobuf::descriptor_set(&types);
                Self { name: types.full_name(0, "."), encoding: "protobuf", data }
            }
        };
        schema.check(probe_type, encoding)?;
        Ok(schema)
    }

    /// Reads the schema as an import does: its bounds are narrower than those of a probe type.
    fn check(&self, probe_type: &ProbeType, encoding: MessageEncoding) -> Result<(), WriteError> {
        let why = match encoding {
            MessageEncoding::Json => None,
            MessageEncoding::Cdr => Layout::read(&self.name, &self.data).err().map(|why| why.to_string()),
            MessageEncoding::Protobuf => match protobuf::Layout::read(&self.name, &self.data) {
                Err(why) => Some(why.to_string()),
                Ok(layout) if layout.unstored.is_empty() => None,
                Ok(layout) => Some(format!("{} is nested too deep", layout.unstored.join(", "))),
            },
        };
        why.map_or(Ok(()), |why| {
            let probe_type = crate::visible::Visible(&probe_type.name).to_string();
            Err(WriteError::Encoding { encoding: encoding.name(), probe_type, why })
        })
    }
}

/// Replaces the content of `message` by a sample and the state of its probe.
///
/// # Errors
/// If a value has no JSON.
pub fn encode(
    encoding: MessageEncoding,
    probe_type: &ProbeType,
    state: u16,
    values: &[Value],
    message: &mut Vec<u8>,
) -> Result<(), WriteError> {
    match encoding {
        MessageEncoding::Json => {
            let mut metrics = value::to_json(probe_type, values);
            put_blobs(probe_type, values, &mut metrics);
            leave_out_absent(&mut metrics);
            if state != 0 {
                metrics.insert(json_schema::STATE.into(), state.into());
            }
            message.clear();
            serde_json::to_writer(message, &metrics)?;
        }
        MessageEncoding::Cdr => ros::encode(probe_type, state, values, message),
        MessageEncoding::Protobuf => protobuf::encode(probe_type, state, values, message),
    }
    Ok(())
}

/// Writes blobs as base64: a recording has their bytes, in each encoding.
fn put_blobs(
    probe_type: &ProbeType,
    values: &[Value],
    members: &mut serde_json::Map<String, serde_json::Value>,
) {
    for (metric, value) in probe_type.metrics.iter().zip(values) {
        let member = members.get_mut(&metric.name).filter(|member| !member.is_null());
        if let (Value::Blob(bytes), Some(member)) = (value, member) {
            *member = BASE64_STANDARD.encode(bytes).into();
        }
    }
}

/// Removes members that are null: the schema gives each its type and requires none.
fn leave_out_absent(members: &mut serde_json::Map<String, serde_json::Value>) {
    members.retain(|_, member| !member.is_null());
    members.values_mut().for_each(leave_out_absent_within);
}

fn leave_out_absent_within(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Object(members) => leave_out_absent(members),
        serde_json::Value::Array(elements) => elements.iter_mut().for_each(leave_out_absent_within),
        _ => {}
    }
}
