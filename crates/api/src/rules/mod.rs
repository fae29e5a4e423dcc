//! Rules over HTTP: what an engine runs, files that can be changed, and what a text would do.
//!
//! Checking, completion and previews need no engine: they compile a text against the types and instances that the caller may read, and nothing acts on it.

pub mod check;
pub mod complete;
mod file_store;
pub mod files;
pub mod list;
pub mod preview;
mod sight;
mod views;

use crate::{Api, sql::Turns};
use axum::http::{HeaderMap, StatusCode};
use file_store::FileStore;
use oasis_http::Problem;
use oasis_rules::RulesState;
use std::sync::Arc;

/// Longest text, in bytes.
const MAX_TEXT_BYTES: usize = 1024 * 1024;

/// The rules that the API shows and changes.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// State of the engine; none without an engine.
    state: Option<Arc<RulesState>>,
    files: Option<Arc<FileStore>>,
    previews: Turns,
}

impl Rules {
    /// Creates the access to the rules of an engine, if there is one.
    pub fn new(state: Option<Arc<RulesState>>) -> Self {
        let directory = state.as_ref().and_then(|state| state.directory());
        let files = directory.map(|directory| Arc::new(FileStore::new(directory.to_owned())));
        Self { state, files, previews: Turns::default() }
    }

    fn is_editable(&self) -> bool {
        self.state.as_ref().is_some_and(|state| state.is_editable())
    }

    /// The files, if they can be changed.
    fn editable(&self) -> Result<(&Arc<RulesState>, &Arc<FileStore>), Problem> {
        let both = self.state.as_ref().zip(self.files.as_ref());
        both.filter(|_| self.is_editable()).ok_or_else(|| {
            let detail = "files of rules cannot be changed here: set rules.directory and rules.editable";
            Problem::new(StatusCode::CONFLICT, "rules_not_editable", detail)
        })
    }
}

fn admit(api: &Api, headers: &HeaderMap) -> Result<(), Problem> {
    api.doors.admit(headers, "pages of other sites may not use rules (doors.allowed_origins)")
}

fn check_length(text: &str) -> Result<(), Problem> {
    if text.len() <= MAX_TEXT_BYTES {
        return Ok(());
    }
    let detail = format!("the text has {} bytes, more than {MAX_TEXT_BYTES}", text.len());
    Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "rules_too_long", detail))
}

/// Runs something that compiles or reads files.
async fn blocking<T: Send + 'static>(act: impl FnOnce() -> T + Send + 'static) -> Result<T, Problem> {
    tokio::task::spawn_blocking(act)
        .await
        .map_err(|error| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "rules_storage", error.to_string()))
}
