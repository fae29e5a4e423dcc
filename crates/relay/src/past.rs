//! One question about the past, on a connection of its own.

use crate::Message;
use oasis_dac::{ForwardedQuestion, PastMessage, PastQuestion, PastStart};
use oasis_wire::{gap::Gap, loss::Cause, quantity::Position};
use serde_json::{Value, json};

/// Returns the request that asks the upstream for samples.
pub fn request(asked: &ForwardedQuestion, question: PastQuestion) -> Value {
    let PastQuestion { start, to, points } = question;
    let mut request = json!({
        "op": "subscribe", "id": 1, "node": asked.node, "instance": asked.instance, "to": to.to_string(),
        "gaps": true,
    });
    match start {
        PastStart::Time(from) => request["from"] = from.to_string().into(),
        PastStart::Position(at) => request["resume"] = at.to_string().into(),
        PastStart::Resumed(None, portable) => request["resume"] = portable.to_string().into(),
        PastStart::Resumed(Some(at), portable) => request["resume"] = format!("{at} {portable}").into(),
        PastStart::Newest { from, samples } => {
            request["last"] = samples.into();
            if from > 0 {
                request["from"] = from.to_string().into();
            }
        }
    }
    if let Some(points) = points {
        request["points"] = points.into();
    }
    request
}

/// Returns what a message of the upstream says to who asked; none if it says nothing.
pub fn answer(message: Message) -> Option<PastMessage> {
    match message {
        Message::Subscribed { epoch, offset, .. } => Some(PastMessage::Begin(Position { epoch, offset })),
        Message::Gap { from, to, cause, .. } => {
            let cause = Cause::from_word(&cause).unwrap_or(Cause::Unexplained);
            Some(PastMessage::Gap(from.zip(to).map(|(from, to)| from..to), cause))
        }
        Message::GapsBefore { mut gaps, .. } => {
            gaps.retain(Gap::is_valid);
            Some(PastMessage::GapsBefore(gaps))
        }
        Message::Epoch { epoch, offset, .. } => Some(PastMessage::Epoch(Position { epoch, offset })),
        Message::TypeChanged { schema, .. } => Some(PastMessage::Type(schema)),
        Message::Points(points) => Some(PastMessage::Points(points.to_string())),
        Message::Unsubscribed { cause, .. } => Some(match cause.as_deref() {
            Some("to") => PastMessage::End,
            cause => {
                PastMessage::Failed(format!("the upstream has ended it: {}", cause.unwrap_or("no cause")))
            }
        }),
        Message::Error { message, .. } => Some(PastMessage::Failed(message)),
        _ => None,
    }
}
