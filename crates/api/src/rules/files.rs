//! Files of rules: reading, saving and deleting one.

use super::{
    check::{compiled, diagnostics},
    file_store::Stored,
    sight::Sight,
    views::DiagnosticView,
};
use crate::Api;
use axum::{
    Extension, Json,
    body::Bytes,
    extract::{Path, Query, State, rejection::QueryRejection},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
};
use oasis_access::{Target, Verb};
use oasis_http::{Problem, permissions::Caller};
use oasis_rules::{
    Code, LoadedFile, Report, RulesState,
    program::{ActionSpec, Body},
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::{IntoParams, ToSchema};

/// A file.
#[derive(Debug, Serialize, ToSchema)]
pub struct RuleFile {
    text: String,
    /// Revision that the author has read: a change must name it, so that it replaces no other.
    revision: String,
    /// Whether it can be changed here: a file of the configuration cannot.
    editable: bool,
}

impl From<Stored> for RuleFile {
    fn from(Stored { text, revision }: Stored) -> Self {
        Self { text, revision, editable: true }
    }
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewRuleFile {
    /// Rules, at most 1 MiB.
    text: String,
    /// The revision that it replaces; none for a new file.
    #[serde(default)]
    revision: Option<String>,
}

/// A text with errors. Nothing was saved.
#[derive(Debug, Serialize, ToSchema)]
pub struct RefusedRules {
    #[serde(flatten)]
    #[schema(value_type = Object)]
    problem: Problem,
    diagnostics: Vec<DiagnosticView>,
}

/// Why a file is not saved.
#[derive(Debug)]
pub enum NotSaved {
    Refused(Box<Report>),
    Other(Problem),
}

impl<T: Into<Problem>> From<T> for NotSaved {
    fn from(error: T) -> Self {
        Self::Other(error.into())
    }
}

/// The text of a file.
#[utoipa::path(get, path = "/api/v1/rules/files/{name}", params(("name" = String, Path)),
    responses((status = 200, body = RuleFile), (status = 400, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 500, body = Problem)))]
pub async fn get(State(api): State<Api>, Path(name): Path<String>) -> Result<Json<RuleFile>, Problem> {
    if let Some(text) = of_configuration(&api, &name).and_then(|file| file.text) {
        let Stored { text, revision } = Stored::new(text.to_string());
        return Ok(Json(RuleFile { text, revision, editable: false }));
    }
    let (_, files) = api.rules.editable()?;
    let files = files.clone();
    Ok(Json(super::blocking(move || files.read(&name)).await??.into()))
}

/// A file that the configuration names, and that is not changed over the API.
fn of_configuration(api: &Api, name: &str) -> Option<LoadedFile> {
    let files = api.rules.state.as_ref()?.loaded().files;
    files.into_iter().find(|file| file.name == name && file.text.is_some())
}

/// Saves a file, if its rules have no errors. The engine takes them over without losing the state of rules that did not change.
#[utoipa::path(put, path = "/api/v1/rules/files/{name}", params(("name" = String, Path)), request_body = NewRuleFile,
    responses((status = 200, body = RuleFile), (status = 400, body = Problem), (status = 403, body = Problem), (status = 409, body = Problem),
        (status = 413, body = Problem), (status = 422, body = RefusedRules), (status = 500, body = Problem)))]
pub async fn put(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    match save(&api, &caller, name, &headers, &body).await {
        Ok(file) => Json(file).into_response(),
        Err(NotSaved::Other(problem)) => problem.into_response(),
        Err(NotSaved::Refused(report)) => refused(&report),
    }
}

async fn save(
    api: &Api,
    caller: &Caller,
    name: String,
    headers: &HeaderMap,
    body: &Bytes,
) -> Result<RuleFile, NotSaved> {
    super::admit(api, headers)?;
    let NewRuleFile { text, revision } = crate::body(body)?;
    super::check_length(&text)?;
    let (state, files) = api.rules.editable()?;
    let (state, files) = (state.clone(), files.clone());
    if of_configuration(api, &name).is_some() {
        let detail =
            format!("{name} is a file of the configuration: change it there, or save under another name");
        return Err(Problem::new(StatusCode::CONFLICT, "rules_file_of_configuration", detail).into());
    }
    let sight = Sight::of_everything(&api.doors);
    let (of, by, known) = (name.clone(), caller.clone(), state.clone());
    let text = super::blocking(move || check(&sight, &known, &by, &of, text)).await??;
    let arguments = json!({"bytes": text.len(), "replaces": revision});
    let target = name.clone();
    let save = async move {
        let of = name.clone();
        let stored = super::blocking(move || files.write(&of, text, revision.as_deref())).await??;
        state.request_reload(Some(&name));
        Ok::<_, Problem>(stored)
    };
    let saved = api.doors.permissions.recorded(caller, "rules:save", target, arguments, save);
    Ok(saved.await?.into())
}

/// Refuses a text with errors, with commands that its author may not send, or with the name of another rule.
fn check(
    sight: &Sight,
    state: &RulesState,
    caller: &Caller,
    file: &str,
    text: String,
) -> Result<String, NotSaved> {
    let report = compiled(sight, file, &text)?;
    // A rule waits for its probe type.
    if report.diagnostics.iter().any(|wrong| wrong.code != Code::UnknownType) {
        return Err(NotSaved::Refused(report.into()));
    }
    let loaded = state.loaded().rules;
    for rule in &report.program.rules {
        let of_another =
            |known: &&oasis_rules::LoadedRule| known.name == rule.name && known.file.as_deref() != Some(file);
        if let Some(known) = loaded.iter().find(of_another) {
            let place = known.file.as_deref().unwrap_or("the limits of PDL");
            let detail = format!("{place} has a rule called {} already: choose another name", rule.name);
            return Err(Problem::new(StatusCode::CONFLICT, "rule_exists", detail).into());
        }
        let actions: &[ActionSpec] = match &rule.body {
            Body::Alarm(alarm) => &alarm.actions,
            Body::Event(event) => &event.actions,
            Body::Derive(_) | Body::Check(_) => &[],
        };
        // Instances that match a pattern may come later, so the permission must cover everything.
        for verb in actions.iter().filter_map(|action| Verb::of_command(action.command.name())) {
            caller.authorize(verb, Target::Dac)?;
        }
    }
    Ok(text)
}

fn refused(report: &Report) -> Response {
    let errors = report.diagnostics.len();
    let first = report.diagnostics.first().map_or("", |first| &first.message);
    let count = if errors == 1 { "1 error".to_owned() } else { format!("{errors} errors, the first one") };
    let detail = format!("{count}: {first}");
    let status = StatusCode::UNPROCESSABLE_ENTITY;
    let problem = Problem::new(status, "bad_rules", detail);
    let media = [(axum::http::header::CONTENT_TYPE, "application/problem+json")];
    (status, media, Json(RefusedRules { problem, diagnostics: diagnostics(report) })).into_response()
}

#[derive(Debug, Deserialize, IntoParams)]
pub struct OfRevision {
    /// The revision that is deleted; without it any.
    revision: Option<String>,
}

/// Deletes a file. Its rules end.
#[utoipa::path(delete, path = "/api/v1/rules/files/{name}", params(("name" = String, Path), OfRevision),
    responses((status = 204), (status = 400, body = Problem), (status = 403, body = Problem), (status = 404, body = Problem),
        (status = 409, body = Problem), (status = 500, body = Problem)))]
pub async fn delete(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
    query: Result<Query<OfRevision>, QueryRejection>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    super::admit(&api, &headers)?;
    let Query(OfRevision { revision }) = crate::understood(query)?;
    let (state, files) = api.rules.editable()?;
    let (state, files) = (state.clone(), files.clone());
    let arguments = json!({"revision": revision});
    let target = name.clone();
    let delete = async move {
        let of = name.clone();
        super::blocking(move || files.remove(&of, revision.as_deref())).await??;
        state.request_reload(Some(&name));
        Ok::<_, Problem>(StatusCode::NO_CONTENT)
    };
    api.doors.permissions.recorded(&caller, "rules:delete", target, arguments, delete).await
}
