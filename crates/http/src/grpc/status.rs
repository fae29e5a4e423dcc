//! The status of a call, in its trailers.

use axum::{
    body::Bytes,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::Response,
};
use base64::{Engine, engine::general_purpose::STANDARD_NO_PAD};
use oasis_wire::varint;
use serde::Deserialize;

/// Longest message of a status, in bytes: percent-encoded and with its details it fits into the 8 KiB of metadata that clients take.
const MAX_STATUS_BYTES: usize = 1024;

/// The code of the status of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrpcCode {
    Ok = 0,
    Unknown = 2,
    InvalidArgument = 3,
    PermissionDenied = 7,
    ResourceExhausted = 8,
    Unimplemented = 12,
    Internal = 13,
    Unavailable = 14,
    Unauthenticated = 16,
}

impl GrpcCode {
    /// Returns the code for the status of an HTTP answer. Of the OTLP specification: `Unavailable` may be repeated, the others may not.
    pub fn of_http(status: StatusCode) -> Self {
        match status.as_u16() {
            200..=299 => Self::Ok,
            400 | 415 => Self::InvalidArgument,
            401 => Self::Unauthenticated,
            403 | 421 => Self::PermissionDenied,
            404 | 405 => Self::Unimplemented,
            408 | 502..=504 => Self::Unavailable,
            413 | 429 => Self::ResourceExhausted,
            500 => Self::Internal,
            _ => Self::Unknown,
        }
    }
}

/// The status of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrpcStatus {
    code: GrpcCode,
    message: String,
    /// Seconds after which the client may repeat the call.
    retry_seconds: Option<u64>,
}

impl GrpcStatus {
    /// The status of a call that was answered.
    pub const OK: Self = Self { code: GrpcCode::Ok, message: String::new(), retry_seconds: None };

    /// Creates a status with this text, cut to [`MAX_STATUS_BYTES`].
    pub fn new(code: GrpcCode, mut message: String) -> Self {
        let longest = message.len().min(MAX_STATUS_BYTES);
        let end = (0..=longest).rev().find(|end| message.is_char_boundary(*end)).unwrap_or(0);
        message.truncate(end);
        Self { code, message, retry_seconds: None }
    }

    /// Creates the status of a call that may be repeated.
    pub fn unavailable(message: String) -> Self {
        Self::new(GrpcCode::Unavailable, message)
    }

    /// Returns the status of an HTTP answer with this body.
    pub fn of_answer(answer: &Response<()>, body: &[u8]) -> Self {
        let code = GrpcCode::of_http(answer.status());
        let retry = answer.headers().get(header::RETRY_AFTER).and_then(|value| value.to_str().ok());
        let message = message_of(answer.headers(), body)
            .unwrap_or_else(|| answer.status().canonical_reason().unwrap_or_default().into());
        let retry_seconds = retry.and_then(|seconds| seconds.parse().ok());
        Self { retry_seconds, ..Self::new(code, message) }
    }

    /// Whether the call was answered.
    pub fn is_ok(&self) -> bool {
        self.code == GrpcCode::Ok
    }

    /// Appends the status to headers or trailers.
    pub fn write(&self, to: &mut HeaderMap) {
        to.insert(HeaderName::from_static("grpc-status"), HeaderValue::from(self.code as u16));
        if let Some(message) = percent_encoded(&self.message).filter(|message| !message.is_empty()) {
            to.insert(HeaderName::from_static("grpc-message"), message);
        }
        if let Some(details) = self.details() {
            to.insert(HeaderName::from_static("grpc-status-details-bin"), details);
        }
    }

    /// Returns the status with `google.rpc.RetryInfo` for clients that may repeat the call: OTLP repeats `ResourceExhausted` only with that.
    fn details(&self) -> Option<HeaderValue> {
        let mut duration = vec![1 << 3];
        varint::put(self.retry_seconds?, &mut duration);
        let retry_info = field(1, &duration);
        let any = [field(1, b"type.googleapis.com/google.rpc.RetryInfo"), field(2, &retry_info)].concat();
        let status =
            [vec![1 << 3, self.code as u8], field(2, self.message.as_bytes()), field(3, &any)].concat();
        HeaderValue::try_from(STANDARD_NO_PAD.encode(status)).ok()
    }
}

/// Returns a field of Protocol Buffers with bytes.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut field = vec![number << 3 | 2];
    varint::put(bytes.len() as u64, &mut field);
    field.extend_from_slice(bytes);
    field
}

/// Returns a text with only printable ASCII, as "Percent-Encoded" of the specification has it.
fn percent_encoded(text: &str) -> Option<HeaderValue> {
    let mut encoded = Vec::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b' '..=b'~' if byte != b'%' => encoded.push(byte),
            _ => encoded.extend(format!("%{byte:02X}").bytes()),
        }
    }
    HeaderValue::from_maybe_shared(Bytes::from(encoded)).ok()
}

/// Returns the text of an error: of a problem, or of a `google.rpc.Status`.
fn message_of(headers: &HeaderMap, body: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Described {
        detail: String,
    }
    match headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok())? {
        "application/x-protobuf" => status_message(body),
        _ => serde_json::from_slice::<Described>(body).ok().map(|problem| problem.detail),
    }
}

/// Returns the message of a `google.rpc.Status` that has code and message alone.
fn status_message(status: &[u8]) -> Option<String> {
    let (_, after_code) = varint_of(status.strip_prefix(&[1 << 3])?)?;
    let (length, text) = varint_of(after_code.strip_prefix(&[2 << 3 | 2])?)?;
    String::from_utf8(text.get(..length)?.to_vec()).ok()
}

/// Splits a number of at most four bytes off.
fn varint_of(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let length = bytes.iter().take(4).position(|byte| *byte < 0x80)? + 1;
    let (number, rest) = bytes.split_at_checked(length)?;
    let number = number.iter().rev().fold(0, |number, byte| number << 7 | usize::from(byte & 0x7f));
    Some((number, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Problem;
    use axum::response::IntoResponse;

    fn written(status: &GrpcStatus) -> HeaderMap {
        let mut headers = HeaderMap::new();
        status.write(&mut headers);
        headers
    }

    fn of(answer: Response, body: &[u8]) -> GrpcStatus {
        let (parts, _) = answer.into_parts();
        GrpcStatus::of_answer(&Response::from_parts(parts, ()), body)
    }

    #[test]
    fn a_message_is_printable_ascii_whatever_it_says() {
        let status = GrpcStatus::new(GrpcCode::Internal, "100 % \u{e9}\r\ngrpc-status: 0".into());
        let headers = written(&status);
        assert_eq!(headers["grpc-status"], "13");
        assert_eq!(headers["grpc-message"], "100 %25 %C3%A9%0D%0Agrpc-status: 0");
        assert_eq!(headers.len(), 2);
        assert_eq!(written(&GrpcStatus::OK).len(), 1);
    }

    #[test]
    fn a_long_message_is_cut_between_characters() {
        let status = GrpcStatus::new(GrpcCode::Unknown, "\u{20ac}".repeat(MAX_STATUS_BYTES));
        assert_eq!(status.message, "\u{20ac}".repeat(MAX_STATUS_BYTES / 3));
        let headers = written(&GrpcStatus { retry_seconds: Some(1), ..status });
        let bytes: usize = headers.values().map(HeaderValue::len).sum();
        assert!(bytes < 6 * 1024, "{bytes}");
    }

    #[test]
    fn each_refusal_has_the_code_that_otlp_asks_for() {
        for (status, code) in [
            (400, 3),
            (401, 16),
            (403, 7),
            (404, 12),
            (408, 14),
            (413, 8),
            (421, 7),
            (429, 8),
            (500, 13),
            (503, 14),
            (507, 2),
        ] {
            let answer = Problem::new(StatusCode::from_u16(status).unwrap(), "x", "why").into_response();
            let headers = written(&of(answer, br#"{"type":"/problems/x","detail":"why"}"#));
            assert_eq!(headers["grpc-status"], code.to_string(), "{status}");
            assert_eq!(headers["grpc-message"], "why");
        }
    }

    #[test]
    fn a_status_of_google_has_its_message_and_a_damaged_one_that_of_http() {
        let text = "x".repeat(300);
        let whole = [&[8, 3][..], &field(2, text.as_bytes())].concat();
        let answer = |body: &[u8]| {
            let mut answer = StatusCode::BAD_REQUEST.into_response();
            let media_type = HeaderValue::from_static("application/x-protobuf");
            answer.headers_mut().insert(header::CONTENT_TYPE, media_type);
            of(answer, body).message
        };
        assert_eq!(answer(&whole), text);
        for length in 0..whole.len() {
            assert_eq!(answer(&whole[..length]), "Bad Request", "{length}");
        }
        assert_eq!(answer(&[8, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 18, 0]), "Bad Request");
    }

    #[test]
    fn a_client_learns_when_it_may_repeat_the_call() {
        let mut answer = StatusCode::TOO_MANY_REQUESTS.into_response();
        answer.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(3));
        let headers = written(&of(answer, b""));
        let details = STANDARD_NO_PAD.decode(&headers["grpc-status-details-bin"]).unwrap();
        let url = b"type.googleapis.com/google.rpc.RetryInfo";
        let any = [&b"\x0a\x28"[..], url, b"\x12\x04\x0a\x02\x08\x03"].concat();
        assert_eq!(details, [b"\x08\x08\x12\x11Too Many Requests\x1a\x30", &any[..]].concat());
    }
}
