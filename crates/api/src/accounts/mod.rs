//! Users, tokens and roles over HTTP, for administrators; each change is recorded before and after.

pub mod copy;
pub mod roles;
pub mod tokens;
pub mod users;

use crate::Api;
use axum::http::{HeaderMap, StatusCode};
use oasis_access::{Access, ChangeError, Document, Name, PasswordError, Rule, StoreError};
use oasis_http::{Problem, permissions::Caller};
use serde_json::Value;
use std::{collections::BTreeSet, sync::Arc};

/// A change of accounts: action, target, and arguments for the audit log.
type Action = (&'static str, String, Value);

/// Changes the accounts, and records that.
async fn change<T: Send + 'static>(
    api: &Api,
    caller: &Caller,
    headers: &HeaderMap,
    (action, target, arguments): Action,
    change: impl FnOnce(&Arc<Access>) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    admit(api, headers)?;
    let permissions = &api.doors.permissions;
    let access = permissions.access.clone();
    let acting = async move { blocking(move || change(&access)).await? };
    permissions.recorded(caller, action, target, arguments, acting).await
}

/// Pages of other sites change nothing.
fn admit(api: &Api, headers: &HeaderMap) -> Result<(), Problem> {
    api.doors.admit(headers, "pages of other sites may not change accounts (doors.allowed_origins)")
}

/// Changes the document of accounts.
fn edit<T>(
    access: &Access,
    change: impl FnOnce(&mut Document) -> Result<T, ChangeError>,
) -> Result<T, Problem> {
    access.change(change).map_err(|error| refused(&error))
}

/// Hashes and writes on a thread that may block.
async fn blocking<T: Send + 'static>(act: impl FnOnce() -> T + Send + 'static) -> Result<T, Problem> {
    let done = tokio::task::spawn_blocking(act).await;
    done.map_err(|error| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "accounts", error.to_string()))
}

fn refused(error: &StoreError) -> Problem {
    let (status, code) = match error {
        StoreError::Change(ChangeError::Unknown { .. }) => (StatusCode::NOT_FOUND, "unknown_account"),
        StoreError::Change(ChangeError::Exists { .. } | ChangeError::RoleInUse { .. }) => {
            (StatusCode::CONFLICT, "account_conflict")
        }
        StoreError::Follows { .. } => (StatusCode::CONFLICT, "accounts_copied"),
        StoreError::Change(ChangeError::Random(_)) => (StatusCode::INTERNAL_SERVER_ERROR, "accounts"),
        StoreError::Change(_) => (StatusCode::UNPROCESSABLE_ENTITY, "bad_account"),
        _ => (StatusCode::INTERNAL_SERVER_ERROR, "accounts"),
    };
    Problem::new(status, code, error.to_string())
}

fn bad_password(error: &PasswordError) -> Problem {
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_password", error.to_string())
}

fn name(text: &str) -> Result<Name, Problem> {
    text.parse().map_err(|error: oasis_access::NameError| bad_account(error.to_string()))
}

fn names(texts: &[String]) -> Result<BTreeSet<Name>, Problem> {
    texts.iter().map(|text| name(text)).collect()
}

fn rules(texts: &[String]) -> Result<Vec<Rule>, Problem> {
    let rules = texts
        .iter()
        .map(|text| text.parse().map_err(|error: oasis_access::RuleError| bad_account(error.to_string())));
    rules.collect()
}

fn texts(rules: &[Rule]) -> Vec<String> {
    rules.iter().map(Rule::to_string).collect()
}

fn list(names: &BTreeSet<Name>) -> Vec<String> {
    names.iter().map(|name| name.as_str().to_owned()).collect()
}

fn bad_account(detail: String) -> Problem {
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_account", detail)
}
