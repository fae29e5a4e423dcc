//! An editor that sends protocol messages to a server.

use lsp_server::{Message, Notification, Request};
use oasis_lsp::{Server, Step};
use serde_json::{Value, json};

/// A server that was initialized.
pub struct Editor {
    server: Server,
    requests: i32,
}

impl Editor {
    pub fn new(options: Value) -> Self {
        let mut editor = Self { server: Server::default(), requests: 0 };
        editor.request("initialize", json!({ "rootUri": "file:///plant", "initializationOptions": options }));
        editor.notify("initialized", json!({}));
        editor
    }

    /// The result, or the error.
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        self.requests += 1;
        let request = Request::new(self.requests.into(), method.into(), params);
        let Step::Send(messages) = self.server.handle(request.into()) else { panic!("the server ended") };
        let [Message::Response(response)] = messages.as_slice() else { panic!("{messages:?}") };
        let response = serde_json::to_value(response).unwrap();
        response.get("result").or(response.get("error")).cloned().unwrap_or_default()
    }

    pub fn notify(&mut self, method: &str, params: Value) {
        self.server.handle(Notification::new(method.into(), params).into());
    }

    /// Returns the published diagnostics by URI.
    pub fn published(&mut self) -> Vec<(String, Vec<Value>)> {
        let files = self.server.settle().into_iter().map(|message| {
            let Message::Notification(notification) = message else { panic!("{message:?}") };
            let uri = notification.params["uri"].as_str().unwrap().to_owned();
            (uri, notification.params["diagnostics"].as_array().unwrap().clone())
        });
        files.collect()
    }

    pub fn open(&mut self, uri: &str, text: &str) {
        let document = json!({ "uri": uri, "languageId": "pdl", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    pub fn at(&mut self, method: &str, uri: &str, line: u32, character: u32) -> Value {
        let position = json!({ "line": line, "character": character });
        self.request(
            &format!("textDocument/{method}"),
            json!({ "textDocument": { "uri": uri }, "position": position }),
        )
    }
}
