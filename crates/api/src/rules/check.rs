//! Checks a text: returns its problems and the inputs of its rules.

use super::{
    sight::Sight,
    views::{DiagnosticView, RuleView},
};
use crate::Api;
use axum::{
    Extension, Json,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode},
};
use oasis_http::{Problem, permissions::Caller};
use oasis_rules::{LoadedRule, Report};
use oasis_store::ReadError;
use serde::{Deserialize, Serialize};
use std::path::Path;
use utoipa::ToSchema;

/// The name of a text without a file, in messages.
pub const UNNAMED: &str = "new.rules";

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RulesText {
    /// Rules, at most 1 MiB.
    text: String,
}

/// Result of checking a text.
#[derive(Debug, Serialize, ToSchema)]
pub struct Checked {
    /// Its errors and warnings, in the order of the text.
    diagnostics: Vec<DiagnosticView>,
    /// The rules without errors, and the instances of now that they would read.
    rules: Vec<RuleView>,
    /// The text as `oasis rules fmt` lays it out; none if it cannot be parsed.
    formatted: Option<String>,
}

/// Checks rules against the types and instances that the caller may read. Nothing is saved.
#[utoipa::path(post, path = "/api/v1/rules/check", request_body = RulesText,
    responses((status = 200, body = Checked), (status = 403, body = Problem), (status = 413, body = Problem), (status = 422, body = Problem),
        (status = 500, body = Problem)))]
pub async fn check(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<Checked>, Problem> {
    super::admit(&api, &headers)?;
    let RulesText { text } = crate::body(&body)?;
    super::check_length(&text)?;
    let sight = Sight::of_present(&api.doors, &caller);
    super::blocking(move || checked(&sight, &text)).await?.map(Json)
}

fn checked(sight: &Sight, text: &str) -> Result<Checked, Problem> {
    let report = compiled(sight, UNNAMED, text)?;
    let program = &report.program;
    let rules = program
        .rules
        .iter()
        .map(|rule| LoadedRule::new(program, rule, None, sight.instances(program, rule.input)).into());
    let formatted = oasis_rules::format(Path::new(UNNAMED), text).ok();
    let rules = rules.collect();
    let diagnostics = report.problems_and_warnings().into_iter().map(Into::into).collect();
    Ok(Checked { diagnostics, rules, formatted })
}

/// Compiles a text. Reads files.
pub fn compiled(sight: &Sight, name: &str, text: &str) -> Result<Report, Problem> {
    let types = sight.types().map_err(|error| unreadable(&error))?;
    Ok(oasis_rules::compile(Path::new(name), text, &types))
}

pub fn diagnostics(report: &Report) -> Vec<DiagnosticView> {
    report.problems().into_iter().map(Into::into).collect()
}

pub fn unreadable(error: &ReadError) -> Problem {
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "archive_error", error.to_string())
}
