//! Long lists as JSON, sent piece by piece: an answer of any length needs the memory of one piece, and a slow client delays only itself.

use axum::{
    body::Body,
    http::header,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use serde::Serialize;
use serde_json::{Map, Value};
use std::convert::Infallible;

/// Bytes that are sent at once, about: one item may be longer.
const CHUNK_BYTES: usize = 64 * 1024;

/// Answers with an object that has these fields, and a list of this name. Items are made when the client has taken those before.
pub fn streamed_list<T: Serialize>(
    fields: Map<String, Value>,
    name: &str,
    items: impl Iterator<Item = T> + Send + 'static,
) -> Response {
    let pieces = Pieces { begin: Some(begin(fields, name)), items: Some(items) };
    let pieces = futures_util::stream::iter(pieces.map(Ok::<_, Infallible>));
    ([(header::CONTENT_TYPE, "application/json")], Body::from_stream(pieces)).into_response()
}

/// Everything before the first item.
fn begin(fields: Map<String, Value>, name: &str) -> Vec<u8> {
    let mut fields = Value::Object(fields).to_string();
    fields.pop();
    let comma = if fields.len() > 1 { "," } else { "" };
    format!("{fields}{comma}{}:[", Value::String(name.to_owned())).into_bytes()
}

struct Pieces<I> {
    begin: Option<Vec<u8>>,
    /// `None` after the last one.
    items: Option<I>,
}

impl<T: Serialize, I: Iterator<Item = T>> Iterator for Pieces<I> {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        let items = self.items.as_mut()?;
        let is_first = self.begin.is_some();
        let mut piece = self.begin.take().unwrap_or_default();
        let empty = piece.len();
        while piece.len() < CHUNK_BYTES {
            let Some(item) = items.next() else {
                piece.extend_from_slice(b"]}");
                self.items = None;
                break;
            };
            if !is_first || piece.len() > empty {
                piece.push(b',');
            }
            // Fails only for maps with keys that are no strings, which no answer has.
            if serde_json::to_writer(&mut piece, &item).is_err() {
                piece.extend_from_slice(b"null");
            }
        }
        Some(piece.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pieces(fields: Value, items: usize) -> Vec<Bytes> {
        let Value::Object(fields) = fields else { panic!("no object") };
        let items = (0..items).map(|number| json!({"number": number, "text": "x".repeat(1_000)}));
        Pieces { begin: Some(begin(fields, "items")), items: Some(items) }.collect()
    }

    #[test]
    fn a_list_of_any_length_is_one_object_in_small_pieces() {
        for items in [0, 1, 64, 65, 1_000] {
            let pieces = pieces(json!({"epoch": "7", "bytes": 3}), items);
            assert!(pieces.iter().all(|piece| piece.len() < CHUNK_BYTES + 2_000));
            let whole: Value = serde_json::from_slice(&pieces.concat()).unwrap();
            let numbers: Vec<_> = whole["items"]
                .as_array()
                .unwrap()
                .iter()
                .map(|item| item["number"].as_u64().unwrap())
                .collect();
            assert_eq!(numbers, (0..items as u64).collect::<Vec<_>>());
            assert_eq!((&whole["epoch"], &whole["bytes"]), (&json!("7"), &json!(3)));
        }
        let whole: Value = serde_json::from_slice(&pieces(json!({}), 1).concat()).unwrap();
        assert_eq!(whole["items"][0]["number"], 0);
    }
}
