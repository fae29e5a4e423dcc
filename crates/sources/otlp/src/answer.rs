//! Answers of OTLP/HTTP: an export response, or a status, in the form of the request.

use crate::signal::Signal;
use oasis_handler::InletAnswer;
use oasis_wire::varint;
use serde_json::json;

/// The form of a request and of its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Protobuf,
    Json,
}

impl Form {
    /// Returns the form of this `Content-Type`; `None` for another one.
    pub fn of(content_type: Option<&str>) -> Option<Self> {
        let media_type = content_type?.split(';').next()?.trim();
        [Self::Protobuf, Self::Json]
            .into_iter()
            .find(|form| media_type.eq_ignore_ascii_case(form.media_type()))
    }

    fn media_type(self) -> &'static str {
        match self {
            Self::Protobuf => "application/x-protobuf",
            Self::Json => "application/json",
        }
    }
}

/// Returns the answer to a request that was read to its end; `message` if items were refused.
pub fn exported(form: Form, signal: Signal, refused: u64, message: Option<&str>) -> InletAnswer {
    let body = match (form, message) {
        (Form::Protobuf, None) => Vec::new(),
        (Form::Json, None) => b"{}".to_vec(),
        (Form::Protobuf, Some(message)) => nested(1, &number_and_text(refused, message)),
        (Form::Json, Some(message)) => {
            let partial = json!({ signal.rejected(): refused.to_string(), "errorMessage": message });
            json!({ "partialSuccess": partial }).to_string().into_bytes()
        }
    };
    InletAnswer::document(200, form.media_type(), body)
}

/// Returns an answer with an error: a `google.rpc.Status`.
pub fn error(form: Form, status: u16, message: &str) -> InletAnswer {
    let code = code(status);
    let body = match form {
        Form::Protobuf => number_and_text(code, message),
        Form::Json => json!({ "code": code, "message": message }).to_string().into_bytes(),
    };
    InletAnswer::document(status, form.media_type(), body)
}

/// Returns a message with a number as field 1 and a text as field 2: a status, or a partial success.
fn number_and_text(number: u64, text: &str) -> Vec<u8> {
    let mut message = vec![1 << 3];
    varint::put(number, &mut message);
    message.extend(nested(2, text.as_bytes()));
    message
}

fn nested(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut field = vec![number << 3 | 2];
    varint::put(bytes.len() as u64, &mut field);
    field.extend_from_slice(bytes);
    field
}

/// Returns the code of gRPC for a status of HTTP.
fn code(status: u16) -> u64 {
    match status {
        403 => 7,
        413 => 8,
        503 => 14,
        _ => 3,
    }
}
