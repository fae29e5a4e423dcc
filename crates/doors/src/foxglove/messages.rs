//! Messages of the DAC to a viewer.

use oasis_websocket::{Opcode, frame};
use serde::Serialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Opcode of a message of a channel.
const MESSAGE_DATA: u8 = 1;
/// Opcode of the answer to a call of a service.
const SERVICE_CALL_RESPONSE: u8 = 3;

/// A message as JSON.
#[derive(Debug, Serialize)]
#[serde(tag = "op", rename_all = "camelCase")]
pub enum ServerMessage<'a> {
    #[serde(rename_all = "camelCase")]
    ServerInfo {
        name: String,
        capabilities: &'a [&'a str],
        supported_encodings: &'a [&'a str],
        session_id: String,
    },
    Status {
        level: StatusLevel,
        message: String,
    },
    Advertise {
        channels: &'a [Channel],
    },
    #[serde(rename_all = "camelCase")]
    Unadvertise {
        channel_ids: &'a [u32],
    },
    AdvertiseServices {
        services: &'a [Service],
    },
    #[serde(rename_all = "camelCase")]
    UnadvertiseServices {
        service_ids: &'a [u32],
    },
    ParameterValues {
        parameters: &'a [Parameter],
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<String>,
    },
    #[serde(rename_all = "camelCase")]
    ServiceCallFailure {
        service_id: u32,
        call_id: u32,
        message: String,
    },
}

/// Importance of a status message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatusLevel {
    Info,
    Warning,
    Error,
}

impl Serialize for StatusLevel {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u8(*self as u8)
    }
}

/// A channel with its schema.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Channel {
    pub id: u32,
    pub topic: String,
    pub encoding: &'static str,
    pub schema_name: String,
    /// Base64 if the schema is binary.
    pub schema: String,
    pub schema_encoding: &'static str,
}

/// A service.
#[derive(Debug, Serialize)]
pub struct Service {
    pub id: u32,
    pub name: String,
    #[serde(rename = "type")]
    pub service_type: &'static str,
    pub request: ServiceSchema,
    pub response: ServiceSchema,
}

/// The schema of a request or a response of a service.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ServiceSchema {
    pub encoding: &'static str,
    pub schema_name: &'static str,
    pub schema_encoding: &'static str,
    pub schema: &'static str,
}

/// A parameter. Without a value it does not exist.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Parameter {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<ParameterValue>,
    /// `float64`, so that a viewer does not take a rate without a fraction for an integer.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub number_type: Option<&'static str>,
}

/// The value of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ParameterValue {
    Boolean(bool),
    Number(f64),
}

impl ServerMessage<'_> {
    /// Appends it as a WebSocket message.
    pub fn write(&self, out: &mut Vec<u8>) {
        match serde_json::to_vec(self) {
            Ok(json) => frame::write_message(Opcode::Text, &json, out),
            // Strings and numbers always have JSON.
            Err(error) => tracing::error!(%error, "a message to a viewer cannot be written"),
        }
    }

    /// A status message.
    pub fn status(level: StatusLevel, message: impl Into<Cow<'static, str>>) -> Self {
        Self::Status { level, message: message.into().into_owned() }
    }
}

/// Appends a message of a channel; `time` in nanoseconds since 1970.
pub fn write_data(subscription: u32, time: u64, message: &[u8], out: &mut Vec<u8>) {
    let size = 1 + size_of::<u32>() + size_of::<u64>() + message.len();
    frame::write_header(Opcode::Binary, true, None, size, out);
    out.push(MESSAGE_DATA);
    out.extend_from_slice(&subscription.to_le_bytes());
    out.extend_from_slice(&time.to_le_bytes());
    out.extend_from_slice(message);
}

/// Appends the answer to a call of a service.
pub fn write_response(service: u32, call: u32, response: &RawValue, out: &mut Vec<u8>) {
    const ENCODING: &[u8] = b"json";
    let mut message = vec![SERVICE_CALL_RESPONSE];
    for number in [service, call, ENCODING.len() as u32] {
        message.extend_from_slice(&number.to_le_bytes());
    }
    message.extend_from_slice(ENCODING);
    message.extend_from_slice(response.get().as_bytes());
    frame::write_message(Opcode::Binary, &message, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The payload of the only frame.
    fn payload(out: &[u8]) -> &[u8] {
        assert!(out[1] < 126, "a short frame");
        &out[2..]
    }

    #[test]
    fn messages_look_as_the_protocol_says() {
        let mut out = Vec::new();
        ServerMessage::Unadvertise { channel_ids: &[3] }.write(&mut out);
        assert_eq!(payload(&out), br#"{"op":"unadvertise","channelIds":[3]}"#);
        out.clear();
        ServerMessage::status(StatusLevel::Warning, "late").write(&mut out);
        assert_eq!(payload(&out), br#"{"op":"status","level":1,"message":"late"}"#);
        out.clear();
        let parameter = Parameter {
            name: "a".into(),
            value: Some(ParameterValue::Number(2.0)),
            number_type: Some("float64"),
        };
        ServerMessage::ParameterValues { parameters: &[parameter], id: None }.write(&mut out);
        let json = br#"{"op":"parameterValues","parameters":[{"name":"a","value":2.0,"type":"float64"}]}"#;
        assert_eq!(payload(&out), json);
        out.clear();
        write_data(7, 9, b"hi", &mut out);
        assert_eq!(payload(&out), [&[1, 7, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0][..], b"hi"].concat());
    }
}
