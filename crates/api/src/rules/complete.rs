//! Completion: proposals for a position in a text.

use super::{check::unreadable, sight::Sight};
use crate::Api;
use axum::{Extension, Json, body::Bytes, extract::State, http::HeaderMap};
use oasis_http::{Problem, permissions::Caller};
use oasis_rules::{Completion, Completions, EditorCatalog};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CompletionRequest {
    /// Rules, at most 1 MiB.
    text: String,
    /// A byte of the text in UTF-8.
    offset: usize,
}

/// Proposals for a position in a text.
#[derive(Debug, Serialize, ToSchema)]
pub struct Proposals {
    /// The byte from which on a label replaces the text before the place.
    from: usize,
    /// At most 200.
    items: Vec<Proposal>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Proposal {
    label: String,
    /// `keyword`, `input`, `metric`, `field`, `function`, `unit`, `enumerator`, `type`, `instance` or `placeholder`.
    kind: &'static str,
    /// More about it; empty if there is nothing to say.
    detail: String,
}

impl From<Completion> for Proposal {
    fn from(Completion { label, kind, detail }: Completion) -> Self {
        Self { label, kind: kind.name(), detail }
    }
}

/// Proposes what can stand at a place: words, inputs, metrics, functions, units, and instances that the caller may see.
#[utoipa::path(post, path = "/api/v1/rules/complete", request_body = CompletionRequest,
    responses((status = 200, body = Proposals), (status = 403, body = Problem), (status = 413, body = Problem), (status = 422, body = Problem),
        (status = 500, body = Problem)))]
pub async fn complete(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<Proposals>, Problem> {
    super::admit(&api, &headers)?;
    let CompletionRequest { text, offset } = crate::body(&body)?;
    super::check_length(&text)?;
    let sight = Sight::of_present(&api.doors, &caller);
    let found = super::blocking(move || {
        let types = sight.types().map_err(|error| unreadable(&error))?;
        let around = EditorCatalog { types, instances: sight.known_instances() };
        Ok::<_, Problem>(oasis_rules::complete(&text, offset, &around))
    });
    let Completions { from, items } = found.await??;
    Ok(Json(Proposals { from, items: items.into_iter().map(Into::into).collect() }))
}
