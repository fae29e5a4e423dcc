//! Answers an editor's requests about PDL files and rules: `oasis pdl lsp` and `oasis rules lsp` speak the Language Server Protocol on standard input and
//! output.
//!
//! A [`Server`] takes one message and returns its answers; it knows no streams. It serves a [`Language`]: [`Pdl`] or [`Rules`]. Open documents lie over the
//! disk, so that unsaved text counts, and every request is answered from their compilation.
//!
//! ```
//! use lsp_server::{Message, Notification, Request};
//! use oasis_lsp::{Pdl, Server};
//! use serde_json::json;
//!
//! let mut server = Server::new(Pdl::default());
//! let initialize = json!({ "capabilities": {}, "processId": null, "rootUri": null });
//! server.handle(Message::Request(Request::new(1.into(), "initialize".into(), initialize)));
//! server.handle(Message::Notification(Notification::new("initialized".into(), json!({}))));
//!
//! let text = "probe Engine { real65 rpm; };";
//! let document = json!({ "uri": "file:///engine.pdl", "languageId": "pdl", "version": 1, "text": text });
//! let opened = Notification::new("textDocument/didOpen".into(), json!({ "textDocument": document }));
//! server.handle(Message::Notification(opened));
//!
//! // After a change come the diagnostics of each file.
//! let Some(Message::Notification(published)) = server.settle().pop() else { panic!("no diagnostics") };
//! assert_eq!(published.method, "textDocument/publishDiagnostics");
//! assert!(published.params["diagnostics"].to_string().contains("real65"));
//! ```

mod frame;
mod language;
mod pdl;
mod rules;
mod serve;
mod server;
mod text;
mod uri;

pub use language::Language;
pub use pdl::Pdl;
pub use rules::{Rules, Source};
pub use serve::serve;
pub use server::{Server, Step};
