//! Annotations over HTTP: notes of people at times, in the archive's catalogue.

use super::archive::{archive, blocking, catalogue_problem};
use axum::{
    Extension, Json,
    body::Bytes,
    extract::{Path, Query, State, rejection::QueryRejection},
    http::{HeaderMap, StatusCode},
};
use oasis_access::Verb;
use oasis_dac::now;
use oasis_doors::{Doors, in_order};
use oasis_http::{
    Problem,
    permissions::{Caller, Refusal},
};
use oasis_store::{
    Annotation, AnnotationError, AnnotationFilter, AnnotationPosition, Annotations, Note, Target,
};
use oasis_wire::{quantity::Nanos, time};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

/// Annotations in one answer: by default, and at most.
const MAX_ANNOTATIONS: usize = 1_000;

/// The node or instance of an annotation.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TargetView {
    /// Node name.
    node: String,
    /// Instance name; null or absent for the whole node.
    #[serde(default)]
    instance: Option<String>,
}

/// An annotation.
#[derive(Debug, Serialize, ToSchema)]
pub struct AnnotationView {
    /// Its number.
    id: u64,
    /// When, or from when on, nanoseconds since 1970.
    time: u64,
    /// Until when; null for a moment.
    until: Option<u64>,
    text: String,
    /// About what; empty for everything.
    targets: Vec<TargetView>,
    /// Its author; with the address only for callers that may read everything.
    who: String,
    /// When it was written, nanoseconds since 1970 on the DAC's clock.
    written: u64,
}

impl AnnotationView {
    fn new(annotation: Annotation, caller: &Caller) -> Self {
        let Annotation { id, note, who, written } = annotation;
        let who = caller.shown_author(&who).to_owned();
        let target = |Target { node, instance }| TargetView { node, instance };
        Self {
            id,
            time: note.time.0,
            until: note.until.map(|until| until.0),
            text: note.text,
            targets: note.targets.into_iter().map(target).collect(),
            who,
            written: written.0,
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct AnnotationList {
    /// By time.
    annotations: Vec<AnnotationView>,
    /// `after` for the next annotations; null after the last one.
    next: Option<String>,
}

#[derive(Debug, Deserialize, IntoParams)]
pub struct AnnotationQuery {
    /// Annotations that end no earlier: nanoseconds since 1970, a date and time, or how long ago (-15m).
    from: Option<String>,
    /// Annotations that begin earlier.
    to: Option<String>,
    /// Annotations of this node, one of its instances, or everything.
    node: Option<String>,
    /// With `node`: annotations of this instance, the whole node, or everything.
    instance: Option<String>,
    /// The next annotations: `next` of an earlier answer.
    after: Option<String>,
    /// Most annotations in the answer, 1 to 1000; 1000 by default.
    limit: Option<usize>,
}

/// Annotations, by time.
#[utoipa::path(get, path = "/api/v1/annotations", params(AnnotationQuery),
    responses((status = 200, body = AnnotationList), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub async fn list(
    State(doors): State<Doors>,
    Extension(caller): Extension<Caller>,
    query: Result<Query<AnnotationQuery>, QueryRejection>,
) -> Result<Json<AnnotationList>, Problem> {
    let Query(query) = super::understood(query)?;
    let limit = query.limit.unwrap_or(MAX_ANNOTATIONS).clamp(1, MAX_ANNOTATIONS);
    let from = query.from.map(|from| query_time("from", &from)).transpose()?;
    let to = query.to.map(|to| query_time("to", &to)).transpose()?;
    if let (Some(from), Some(to)) = (from, to) {
        in_order(from.0, to.0)?;
    }
    let filter = AnnotationFilter {
        from,
        to,
        node: query.node,
        instance: query.instance,
        after: query.after.map(|after| place(&after)).transpose()?,
    };
    let by = caller.clone();
    let mut found = of(&doors, move |annotations| visible(annotations, &by, filter, limit + 1)).await?;
    let next = super::last_of_more(&mut found, limit);
    let next = next.map(|last| format!("{}-{}", last.note.time.0, last.id));
    let annotations = found.into_iter().map(|annotation| AnnotationView::new(annotation, &caller)).collect();
    Ok(Json(AnnotationList { annotations, next }))
}

/// A time in JSON.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum Time {
    /// Nanoseconds since 1970.
    Nanoseconds(u64),
    /// The same as text, a date and time, or how long ago.
    Text(String),
}

impl Time {
    fn at(&self, name: &str) -> Result<Nanos, Problem> {
        match self {
            Self::Nanoseconds(time) => Ok(Nanos(*time)),
            Self::Text(text) => parsed(name, text)
                .map_err(|detail| Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_request", detail)),
        }
    }
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewAnnotation {
    /// Its time, or its start; now by default.
    time: Option<Time>,
    /// Until when, for a span.
    until: Option<Time>,
    /// 1 to 4096 bytes.
    text: String,
    /// About what, at most 64; empty for everything.
    #[serde(default)]
    targets: Vec<TargetView>,
}

/// Writes an annotation down.
#[utoipa::path(post, path = "/api/v1/annotations", request_body = NewAnnotation,
    responses((status = 201, body = AnnotationView), (status = 403, body = Problem), (status = 404, body = Problem),
        (status = 409, body = Problem), (status = 422, body = Problem), (status = 507, body = Problem)))]
pub async fn add(
    State(doors): State<Doors>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<(StatusCode, Json<AnnotationView>), Problem> {
    admit(&doors, &headers)?;
    let new: NewAnnotation = super::body(&body)?;
    let target = |TargetView { node, instance }| Target { node, instance };
    let note = Note {
        time: new.time.map_or(Ok(now()), |time| time.at("time"))?,
        until: new.until.map(|until| until.at("until")).transpose()?,
        text: new.text,
        targets: new.targets.into_iter().map(target).collect(),
    };
    let allowed = authorize(&caller, &note.targets);
    let arguments = json!({"text": note.text, "targets": note.targets});
    if let Err(refusal) = allowed {
        doors.permissions.record_refusal(&caller, "annotation:add", "", arguments, &refusal).await;
        return Err(Problem::from(refusal).recorded());
    }
    let (who, on) = (caller.author("http"), doors.clone());
    let add = async move { of(&on, move |annotations| annotations.add(note, &who, now())).await };
    let recorded = doors.permissions.recorded(&caller, "annotation:add", String::new(), arguments, add);
    let added = recorded.await?;
    Ok((StatusCode::CREATED, Json(AnnotationView::new(added, &caller))))
}

/// Deletes an annotation.
#[utoipa::path(delete, path = "/api/v1/annotations/{annotation}", params(("annotation" = u64, Path, description = "its number")),
    responses((status = 204), (status = 403, body = Problem), (status = 404, body = Problem), (status = 507, body = Problem)))]
pub async fn delete(
    State(doors): State<Doors>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    admit(&doors, &headers)?;
    let id = id.parse().map_err(|_| {
        let detail =
            format!("{id:?} is not the number of an annotation: list them with GET /api/v1/annotations");
        Problem::new(StatusCode::NOT_FOUND, "unknown_annotation", detail)
    })?;
    let found = of(&doors, move |annotations| annotations.get(id)).await?;
    if !is_visible(&caller, &found.note.targets) {
        return Err(annotation_problem(&AnnotationError::Unknown(id)));
    }
    authorize(&caller, &found.note.targets)?;
    let on = doors.clone();
    let delete = async move { of(&on, move |annotations| annotations.delete(id)).await };
    doors.permissions.recorded(&caller, "annotation:delete", id.to_string(), Value::Null, delete).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn admit(doors: &Doors, headers: &HeaderMap) -> Result<(), Problem> {
    doors.admit(headers, "pages of other sites may not change annotations (doors.allowed_origins)")
}

/// Asks for the permission to annotate all of these; everything, if there are none.
fn authorize(caller: &Caller, targets: &[Target]) -> Result<(), Refusal> {
    if targets.is_empty() {
        return caller.authorize(Verb::Annotations, oasis_access::Target::Dac);
    }
    targets.iter().try_for_each(|target| match &target.instance {
        Some(instance) => caller.authorize_instance(Verb::Annotations, &target.node, instance),
        None => caller.authorize(Verb::Annotations, oasis_access::Target::Node(&target.node)),
    })
}

/// Whether a caller may see an annotation of these: of everything, or of something that it may see.
fn is_visible(caller: &Caller, targets: &[Target]) -> bool {
    targets.is_empty() || targets.iter().any(|target| sees(caller, target))
}

fn sees(caller: &Caller, target: &Target) -> bool {
    match &target.instance {
        Some(instance) => caller.sees(&target.node, instance),
        None => caller.sees_node(&target.node),
    }
}

/// Returns at most `most` annotations that a caller may see, without targets that it may not see.
fn visible(
    annotations: &Annotations,
    caller: &Caller,
    mut filter: AnnotationFilter,
    most: usize,
) -> Result<Vec<Annotation>, AnnotationError> {
    let mut found = Vec::new();
    while found.len() < most {
        let page = annotations.list(&filter, most)?;
        let is_last = page.len() < most;
        filter.after = page.last().map(|last| (last.note.time, last.id));
        let seen = page.into_iter().filter(|annotation| is_visible(caller, &annotation.note.targets));
        found.extend(seen.take(most - found.len()));
        if is_last {
            break;
        }
    }
    for annotation in &mut found {
        annotation.note.targets.retain(|target| sees(caller, target));
    }
    Ok(found)
}

fn parsed(name: &str, text: &str) -> Result<Nanos, String> {
    time::parse(text, now()).map(Nanos).map_err(|error| format!("{name} is {text:?}: {error}"))
}

fn query_time(name: &str, text: &str) -> Result<Nanos, Problem> {
    parsed(name, text).map_err(|detail| Problem::new(StatusCode::BAD_REQUEST, "bad_parameter", detail))
}

fn place(text: &str) -> Result<AnnotationPosition, Problem> {
    let numbers = text.split_once('-').and_then(|(time, id)| Some((time.parse().ok()?, id.parse().ok()?)));
    let (time, id) = numbers.ok_or_else(|| {
        let detail = format!("after is {text:?}: take it from next of an earlier answer");
        Problem::new(StatusCode::BAD_REQUEST, "bad_parameter", detail)
    })?;
    Ok((Nanos(time), id))
}

/// Runs a query on a thread that may block.
async fn of<T: Send + 'static>(
    doors: &Doors,
    ask: impl FnOnce(&Annotations) -> Result<T, AnnotationError> + Send + 'static,
) -> Result<T, Problem> {
    let annotations = archive(doors)?.annotations();
    blocking(move || ask(&annotations)).await?.map_err(|error| annotation_problem(&error))
}

/// The problem of an annotation that cannot be read or written.
fn annotation_problem(error: &AnnotationError) -> Problem {
    let (status, code) = match error {
        AnnotationError::Text(_)
        | AnnotationError::Backwards { .. }
        | AnnotationError::TooLate(_)
        | AnnotationError::TooManyTargets(_) => (StatusCode::UNPROCESSABLE_ENTITY, "bad_request"),
        AnnotationError::TooMany => (StatusCode::CONFLICT, "too_many_annotations"),
        AnnotationError::Unknown(_) => (StatusCode::NOT_FOUND, "unknown_annotation"),
        AnnotationError::Catalogue(error) => return catalogue_problem(error),
    };
    Problem::new(status, code, error.to_string())
}
