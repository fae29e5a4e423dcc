//! Answers an editor's requests about PDL files: `oasis pdl lsp` speaks the Language Server Protocol on standard input and output.
//!
//! A [`Server`] takes one message and returns its answers; it knows no streams, and another [`Language`] can have one too. Open documents lie over the disk,
//! so that unsaved text counts, and every request is answered from their compilation. One file for each request: `hover`, `definition`, `completion`,
//! `symbols`, `diagnostics`.
//!
//! ```
//! use lsp_server::{Message, Notification, Request};
//! use oasis_pdl_lsp::{Pdl, Server};
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

mod completion;
mod context;
mod declared;
mod definition;
mod diagnostics;
mod frame;
mod hover;
mod language;
mod pdl;
mod serve;
mod server;
mod size;
mod symbols;
mod text;
pub mod uri;
mod workspace;

pub use language::Language;
pub use pdl::Pdl;
pub use serve::serve;
pub use server::{Server, Step};
pub use text::Lines;
