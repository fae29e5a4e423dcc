//! An editor that starts a language server, with bytes as editors send them.

use super::oasis;
use serde_json::{Value, json};
use std::{
    collections::VecDeque,
    io::{BufRead, BufReader, Read, Write},
    process::{Child, ChildStdin, ChildStdout, Stdio},
};

/// An editor with its server.
pub struct Editor {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    requests: i64,
    /// Notifications received while waiting for a response.
    notifications: VecDeque<Value>,
}

impl Editor {
    /// Starts `oasis` with these arguments.
    pub fn start(arguments: &[&str]) -> Self {
        let mut command = oasis();
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output, requests: 0, notifications: VecDeque::new() }
    }

    /// Sends a body with its header.
    pub fn write(&mut self, body: &str) {
        let input = self.input.as_mut().unwrap();
        write!(input, "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        input.flush().unwrap();
    }

    /// Sends bytes as they are.
    pub fn write_raw(&mut self, bytes: &[u8]) {
        self.input.as_mut().unwrap().write_all(bytes).unwrap();
    }

    /// The next message.
    pub fn read(&mut self) -> Value {
        let mut header = String::new();
        self.output.read_line(&mut header).unwrap();
        let length = header.trim().strip_prefix("Content-Length: ").expect(&header).parse().unwrap();
        self.output.read_line(&mut header).unwrap();
        let mut body = vec![0; length];
        self.output.read_exact(&mut body).unwrap();
        serde_json::from_slice(&body).unwrap()
    }

    pub fn notify(&mut self, method: &str, params: Value) {
        self.write(&json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string());
    }

    /// The result of a request.
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        self.requests += 1;
        let id = self.requests;
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string());
        loop {
            let message = self.read();
            if message["id"] == id {
                assert_eq!(message["jsonrpc"], "2.0");
                return message["result"].clone();
            }
            self.notifications.push_back(message);
        }
    }

    /// The next diagnostics of a document.
    pub fn diagnostics(&mut self, uri: &str) -> Vec<Value> {
        loop {
            let message = self.notifications.pop_front().unwrap_or_else(|| self.read());
            assert_eq!(message["method"], "textDocument/publishDiagnostics");
            if message["params"]["uri"] == uri {
                return message["params"]["diagnostics"].as_array().unwrap().clone();
            }
        }
    }

    /// Closes the stream. Returns the exit status.
    pub fn end(mut self) -> Option<i32> {
        self.input = None;
        self.child.wait().unwrap().code()
    }
}
