//! Messages of a viewer to the DAC.

use serde::Deserialize;
use serde_json::Value;

/// Opcode of a call of a service.
const SERVICE_CALL_REQUEST: u8 = 2;

/// A message as JSON.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(tag = "op", rename_all = "camelCase")]
pub enum ClientMessage {
    Subscribe {
        subscriptions: Vec<WantedSubscription>,
    },
    #[serde(rename_all = "camelCase")]
    Unsubscribe {
        subscription_ids: Vec<u32>,
    },
    #[serde(rename_all = "camelCase")]
    GetParameters {
        /// Empty for all.
        #[serde(default)]
        parameter_names: Vec<String>,
        id: Option<String>,
    },
    SetParameters {
        parameters: Vec<SetParameter>,
        id: Option<String>,
    },
    /// Anything else.
    #[serde(other)]
    Other,
}

/// A wanted subscription. The viewer chooses its number.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WantedSubscription {
    pub id: u32,
    pub channel_id: u32,
}

/// A parameter to set.
#[derive(Debug, PartialEq, Deserialize)]
pub struct SetParameter {
    pub name: String,
    #[serde(default)]
    pub value: Value,
}

/// A call of a service. None of them takes arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServiceCall {
    pub service: u32,
    pub call: u32,
}

impl ServiceCall {
    /// Reads a binary message; `None` if it is no complete call.
    pub fn parse(message: &[u8]) -> Option<Self> {
        let rest = message.strip_prefix(&[SERVICE_CALL_REQUEST])?;
        let (service, rest) = number(rest)?;
        let (call, rest) = number(rest)?;
        let (encoding_bytes, rest) = number(rest)?;
        let is_complete = usize::try_from(encoding_bytes).is_ok_and(|bytes| bytes <= rest.len());
        is_complete.then_some(Self { service, call })
    }
}

fn number(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (number, rest) = bytes.split_first_chunk()?;
    Some((u32::from_le_bytes(*number), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_viewers_are_read() {
        let read = |json: &str| serde_json::from_str::<ClientMessage>(json);
        let wanted = read(r#"{"op":"subscribe","subscriptions":[{"id":1,"channelId":2}]}"#).unwrap();
        let subscriptions = vec![WantedSubscription { id: 1, channel_id: 2 }];
        assert_eq!(wanted, ClientMessage::Subscribe { subscriptions });
        let parameters = read(r#"{"op":"getParameters","parameterNames":[]}"#).unwrap();
        assert_eq!(parameters, ClientMessage::GetParameters { parameter_names: Vec::new(), id: None });
        assert_eq!(read(r#"{"op":"fetchAsset","uri":"x"}"#).unwrap(), ClientMessage::Other);
        for json in ["{}", r#"{"op":"subscribe"}"#, r#"{"op":"unsubscribe","subscriptionIds":[-1]}"#] {
            assert!(read(json).is_err(), "{json}");
        }
    }

    #[test]
    fn a_call_is_read_and_a_part_of_one_is_none() {
        let call = [&[2, 5, 0, 0, 0, 9, 0, 0, 0, 4, 0, 0, 0][..], b"json{}"].concat();
        assert_eq!(ServiceCall::parse(&call), Some(ServiceCall { service: 5, call: 9 }));
        assert!((0..17).all(|end| ServiceCall::parse(&call[..end]).is_none()));
        assert_eq!(ServiceCall::parse(&[1; 20]), None);
    }
}
