//! Rules that an engine runs.

use super::views::{DiagnosticView, RuleView};
use crate::Api;
use axum::{Json, extract::State};
use oasis_http::Problem;
use oasis_rules::LoadedFile;
use serde::Serialize;
use utoipa::ToSchema;

/// The files and rules of the engine.
#[derive(Debug, Serialize, ToSchema)]
pub struct RuleList {
    /// Whether files can be changed.
    editable: bool,
    files: Vec<RuleFileView>,
    rules: Vec<RuleView>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct RuleFileView {
    /// The name of a file that can be changed, and the path of others.
    name: String,
    /// Whether it can be changed.
    editable: bool,
    /// `loaded`, `refused` if it has errors (its earlier rules stay active), or `changed` until it has been read again.
    state: &'static str,
    /// Why it is refused.
    diagnostics: Vec<DiagnosticView>,
}

/// The files and rules that the DAC evaluates.
#[utoipa::path(get, path = "/api/v1/rules", responses((status = 200, body = RuleList), (status = 500, body = Problem)))]
pub async fn list(State(api): State<Api>) -> Result<Json<RuleList>, Problem> {
    let rules = &api.rules;
    let stored = match rules.editable() {
        Ok((_, files)) => {
            let files = files.clone();
            super::blocking(move || files.names()).await??
        }
        Err(_) => Vec::new(),
    };
    let loaded = rules.state.as_ref().map(|state| state.loaded()).unwrap_or_default();
    let view = |LoadedFile { name, state, problems, text: _ }: LoadedFile| RuleFileView {
        editable: stored.contains(&name),
        name,
        state: state.name(),
        diagnostics: problems.into_iter().map(Into::into).collect(),
    };
    Ok(Json(RuleList {
        editable: rules.is_editable(),
        files: loaded.files.into_iter().map(view).collect(),
        rules: loaded.rules.into_iter().map(Into::into).collect(),
    }))
}
