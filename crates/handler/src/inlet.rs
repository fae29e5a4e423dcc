//! Requests of programs that speak another protocol over HTTP, and the answers of the handler that takes them.

/// A request. The API has read its body within a limit, and asked for the permission to write anything at all.
pub struct InletRequest<'a> {
    /// `GET`, `HEAD` or `POST`
    pub method: &'a str,
    /// The path, such as `/api/v2/write`.
    pub path: &'a str,
    /// The query of the URL without the question mark; empty if there is none.
    pub query: &'a str,
    /// Returns the value of a header; its name in lower case.
    pub header: &'a dyn Fn(&str) -> Option<&'a str>,
    /// The body as it was sent, compressed or not.
    pub body: &'a [u8],
    /// Whether the sender may write samples of an instance: its node, and its name.
    pub may_write: &'a dyn Fn(&str, &str) -> bool,
}

/// An answer to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InletAnswer {
    /// The status of HTTP.
    pub status: u16,
    /// Headers besides the length.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl InletAnswer {
    /// An answer without a body.
    pub fn empty(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: Vec::new() }
    }

    /// An answer with a document.
    pub fn document(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self { status, headers: vec![("content-type", content_type.into())], body: body.into() }
    }
}
