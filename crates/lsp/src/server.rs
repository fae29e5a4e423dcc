//! The protocol, without streams: a message goes in, its answers come out.

use crate::{language::Language, pdl::Pdl, text::Lines, uri};
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::{
    CompletionOptions, DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    DocumentFormattingParams, DocumentSymbolParams, GotoDefinitionResponse, HoverProviderCapability, OneOf,
    PositionEncodingKind, SaveOptions, ServerCapabilities, TextDocumentContentChangeEvent,
    TextDocumentPositionParams, TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions,
    TextEdit, Uri,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

/// The next action.
#[derive(Debug)]
pub enum Step {
    /// Send these messages and continue.
    Send(Vec<Message>),
    /// Exit. An orderly editor sends `shutdown` before `exit`.
    End {
        /// Whether the process ends with status 0.
        is_agreed: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    New,
    Running,
    ShutDown,
}

/// One editor's server for a language.
pub struct Server<L = Pdl> {
    phase: Phase,
    language: L,
    is_changed: bool,
}

impl<L: Language + Default> Default for Server<L> {
    fn default() -> Self {
        Self::new(L::default())
    }
}

/// A request that was refused.
struct RefusedRequest(ErrorCode, String);
type Answer = Result<Value, RefusedRequest>;

impl<L: Language> Server<L> {
    /// For a language.
    pub fn new(language: L) -> Self {
        Self { phase: Phase::New, language, is_changed: false }
    }

    /// Handles a message. [`Server::settle`] reports the diagnostics of the documents afterwards.
    pub fn handle(&mut self, message: Message) -> Step {
        match message {
            Message::Request(request) => Step::Send(vec![self.request(request).into()]),
            Message::Notification(notification) if notification.method == "exit" => {
                Step::End { is_agreed: self.phase == Phase::ShutDown }
            }
            Message::Notification(notification) => {
                if self.phase == Phase::Running {
                    self.notification(notification);
                }
                Step::Send(Vec::new())
            }
            // The server sends no requests, so it expects no responses.
            Message::Response(_) => Step::Send(Vec::new()),
        }
    }

    /// Reports diagnostics if something changed since the last time. Once after several changes is enough.
    pub fn settle(&mut self) -> Vec<Message> {
        if !std::mem::take(&mut self.is_changed) {
            return Vec::new();
        }
        let files = self.language.publish();
        let method = "textDocument/publishDiagnostics";
        files.into_iter().map(|file| Notification::new(method.to_owned(), file).into()).collect()
    }

    fn request(&mut self, Request { id, method, params }: Request) -> Response {
        match self.answer(&method, params) {
            Ok(result) => Response::new_ok(id, result),
            Err(RefusedRequest(code, message)) => refusal(id, code, message),
        }
    }

    fn answer(&mut self, method: &str, params: Value) -> Answer {
        match (self.phase, method) {
            (Phase::New, "initialize") => Ok(self.initialize(&params)),
            (Phase::New, _) => {
                Err(RefusedRequest(ErrorCode::ServerNotInitialized, "expected `initialize` first".into()))
            }
            (Phase::ShutDown, _) => {
                Err(RefusedRequest(ErrorCode::InvalidRequest, "expected `exit` after `shutdown`".into()))
            }
            (Phase::Running, "initialize") => {
                Err(RefusedRequest(ErrorCode::InvalidRequest, "the server is already initialized".into()))
            }
            (Phase::Running, "shutdown") => {
                self.phase = Phase::ShutDown;
                Ok(Value::Null)
            }
            (Phase::Running, "textDocument/hover") => {
                let TextDocumentPositionParams { text_document, position } = parsed(params)?;
                result(self.language.hover(&text_document.uri, position))
            }
            (Phase::Running, "textDocument/definition") => {
                let TextDocumentPositionParams { text_document, position } = parsed(params)?;
                let found = self.language.definition(&text_document.uri, position);
                result(found.map(GotoDefinitionResponse::Scalar))
            }
            (Phase::Running, "textDocument/completion") => {
                let TextDocumentPositionParams { text_document, position } = parsed(params)?;
                result(self.language.completion(&text_document.uri, position))
            }
            (Phase::Running, "textDocument/documentSymbol") => {
                let params: DocumentSymbolParams = parsed(params)?;
                let text = self.language.text(&params.text_document.uri);
                result(text.map(|text| self.language.symbols(text)))
            }
            (Phase::Running, "textDocument/formatting") => {
                let params: DocumentFormattingParams = parsed(params)?;
                result(self.laid_out(&params.text_document.uri))
            }
            (Phase::Running, _) => {
                Err(RefusedRequest(ErrorCode::MethodNotFound, format!("unknown method {method:?}")))
            }
        }
    }

    fn initialize(&mut self, params: &Value) -> Value {
        self.phase = Phase::Running;
        let root = params["workspaceFolders"][0]["uri"].as_str().or(params["rootUri"].as_str());
        let root = root.and_then(|uri| uri.parse::<Uri>().ok()).map(|uri| uri::to_path(&uri));
        self.language.initialize(&root.unwrap_or_default(), &params["initializationOptions"]);
        json!({
            "capabilities": capabilities(&self.language),
            "serverInfo": { "name": self.language.server_name(), "version": env!("CARGO_PKG_VERSION") },
        })
    }

    /// Returns one edit for the whole text, or none if it is already formatted or has syntax errors.
    fn laid_out(&self, uri: &Uri) -> Option<Vec<TextEdit>> {
        let text = self.language.text(uri)?;
        let laid_out = self.language.format(&uri::to_path(uri), text)?;
        let edit = TextEdit::new(Lines::new(text).all(), laid_out);
        Some(if edit.new_text == text { Vec::new() } else { vec![edit] })
    }

    /// An unreadable notification is ignored: it has no answer that could carry an error.
    fn notification(&mut self, Notification { method, params }: Notification) {
        let done = match method.as_str() {
            "textDocument/didOpen" => parsed(params).map(|params| self.open(params)),
            "textDocument/didChange" => parsed(params).map(|params| self.change(params)),
            "textDocument/didClose" => parsed(params).map(|params: DidCloseTextDocumentParams| {
                self.language.close(&params.text_document.uri);
            }),
            "textDocument/didSave" | "workspace/didChangeWatchedFiles" => {
                self.language.forget();
                Ok(())
            }
            _ => return,
        };
        self.is_changed |= done.is_ok();
    }

    fn open(&mut self, params: DidOpenTextDocumentParams) {
        let document = params.text_document;
        self.language.put(document.uri, document.version, document.text);
    }

    fn change(&mut self, params: DidChangeTextDocumentParams) {
        let document = params.text_document;
        let mut text = self.language.text(&document.uri).unwrap_or_default().to_owned();
        for change in params.content_changes {
            apply(change, &mut text);
        }
        self.language.put(document.uri, document.version, text);
    }
}

/// Applies a change. The server requests whole texts, but accepts ranges too.
fn apply(change: TextDocumentContentChangeEvent, text: &mut String) {
    let Some(range) = change.range else {
        *text = change.text;
        return;
    };
    let lines = Lines::new(text);
    let (start, end) = (lines.offset(range.start), lines.offset(range.end));
    if start <= end {
        text.replace_range(start..end, &change.text);
    }
}

fn capabilities(language: &impl Language) -> ServerCapabilities {
    ServerCapabilities {
        position_encoding: Some(PositionEncodingKind::UTF16),
        text_document_sync: Some(TextDocumentSyncCapability::Options(TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::FULL),
            save: Some(SaveOptions::default().into()),
            ..TextDocumentSyncOptions::default()
        })),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(language.has_definitions())),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(language.triggers().iter().map(|&trigger| trigger.to_owned()).collect()),
            ..CompletionOptions::default()
        }),
        document_formatting_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        ..ServerCapabilities::default()
    }
}

/// An error response.
pub fn refusal(id: RequestId, code: ErrorCode, message: String) -> Response {
    Response::new_err(id, code as i32, message)
}

fn parsed<T: DeserializeOwned>(params: Value) -> Result<T, RefusedRequest> {
    serde_json::from_value(params)
        .map_err(|error| RefusedRequest(ErrorCode::InvalidParams, error.to_string()))
}

fn result(value: impl Serialize) -> Answer {
    serde_json::to_value(value).map_err(|error| RefusedRequest(ErrorCode::InternalError, error.to_string()))
}
