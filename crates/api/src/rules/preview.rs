//! Preview: the reports of rules over archive and topic logs, bounded, and without acting.

use super::{
    check::{UNNAMED, compiled, diagnostics, unreadable},
    sight::Sight,
    views::DiagnosticView,
};
use crate::{
    Api,
    sql::{Leaving, on_own_thread},
};
use axum::{
    Extension, Json,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode},
};
use oasis_dac::now;
use oasis_http::{Problem, permissions::Caller};
use oasis_rules::Program;
use oasis_rules_history::{Occurrence, OpenError, Past, Replay, Span};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{
    collections::HashMap,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};
use utoipa::ToSchema;

/// Upper bound of the time of a preview.
const PREVIEW_TIMEOUT: Duration = Duration::from_secs(10);
/// Most events of an answer.
const MAX_EVENTS: usize = 10_000;
/// Most bytes of their JSON.
const MOST_BYTES: usize = 8 * 1024 * 1024;
/// Most instances that a preview reads.
const MAX_INSTANCES: usize = 2_000;
/// Most memory that the rules may take for all of them.
const MAX_MEMORY_BYTES: usize = 128 * 1024 * 1024;
/// Upper bound of their memory for one of them. Each sample reads all of a window, so this also bounds the time that a batch takes.
const MAX_RULE_BYTES: usize = 16 * 1024 * 1024;
/// Most notes.
const MAX_NOTES: usize = 100;
/// The time that is read by default.
const NANOS_PER_HOUR: u64 = 3_600_000_000_000;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PreviewQuery {
    /// Rules, at most 1 MiB.
    text: String,
    /// Begin, nanoseconds since 1970 on the clock of each node; an hour before the end without it.
    #[serde(default)]
    from: Option<u64>,
    /// End, exclusive; now without it.
    #[serde(default)]
    to: Option<u64>,
}

/// Reports of rules in a preview.
#[derive(Debug, Default, Serialize, ToSchema)]
pub struct Previewed {
    /// Errors of the text; nothing was evaluated if there is one.
    diagnostics: Vec<DiagnosticView>,
    /// As `oasis rules run --json` writes them, with `node`, `instance` and times in nanoseconds.
    #[schema(value_type = Vec<Object>)]
    events: Vec<Value>,
    /// Instances that were read.
    instances: usize,
    samples: u64,
    /// Samples that are missing, where rules are unknown.
    missing: u64,
    /// Whether there is more than was evaluated or is shown.
    truncated: bool,
    /// Remarks on the result.
    notes: Vec<String>,
}

/// Evaluates rules over the past that the caller may read. Nothing acts, and nothing is saved.
#[utoipa::path(post, path = "/api/v1/rules/preview", request_body = PreviewQuery,
    responses((status = 200, body = Previewed), (status = 403, body = Problem), (status = 413, body = Problem), (status = 422, body = Problem),
        (status = 429, body = Problem), (status = 500, body = Problem), (status = 503, body = Problem)))]
pub async fn preview(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<Previewed>, Problem> {
    super::admit(&api, &headers)?;
    let PreviewQuery { text, from, to } = crate::body(&body)?;
    super::check_length(&text)?;
    let until = to.unwrap_or_else(|| now().0);
    let span =
        Span { from: from.unwrap_or_else(|| until.saturating_sub(NANOS_PER_HOUR)), until: Some(until) };
    let turn = api.rules.previews.take_for(&caller)?;
    let leaving = Leaving::default();
    let has_left = leaving.has_left();
    let sight = Sight::of_past(&api.doors, &caller);
    let hides = !caller.sees_everything();
    let work = on_own_thread(move || {
        let _turn = turn;
        previewed(&sight, &text, span, hides, &has_left)
    });
    work.await?.map(Json)
}

fn previewed(
    sight: &Sight,
    text: &str,
    span: Span,
    hides: bool,
    has_left: &AtomicBool,
) -> Result<Previewed, Problem> {
    let report = compiled(sight, UNNAMED, text)?;
    if !report.is_ok() {
        return Ok(Previewed { diagnostics: diagnostics(&report), ..Previewed::default() });
    }
    check_size(sight.past(), &report.program)?;
    let deadline = Instant::now() + PREVIEW_TIMEOUT;
    let replay = Replay::open(sight.past(), report.program, span).map_err(|error| match error {
        OpenError::Read(error) => unreadable(&error),
        OpenError::TooManyInstances => too_large(error.to_string()),
    })?;
    let mut preview = Preview { replay, found: Previewed::default(), bytes: 0 };
    if hides {
        preview.note("instances whose past you may not read are left out".into());
    }
    preview.run(deadline, has_left)?;
    Ok(preview.finish())
}

/// Refuses what would take too much memory, before it is read.
fn check_size(past: &Past, program: &Program) -> Result<(), Problem> {
    let mut instances: HashMap<usize, usize> = HashMap::new();
    for (input, _) in past.matches(program).map_err(|error| unreadable(&error))? {
        *instances.entry(input).or_default() += 1;
    }
    let all: usize = instances.values().sum();
    if all > MAX_INSTANCES {
        return Err(too_large(format!(
            "the inputs match {all} instances, more than {MAX_INSTANCES}: use patterns that match fewer"
        )));
    }
    let (mut of_one, mut of_all) = (0_usize, 0_usize);
    for (at, &instances) in &instances {
        let rules = program.rules.iter().filter(|rule| rule.input == *at);
        let bytes = rules.fold(0_usize, |sum, rule| sum.saturating_add(rule.memory_bytes()));
        of_one = of_one.max(bytes);
        of_all = of_all.saturating_add(bytes.saturating_mul(instances));
    }
    if of_one > MAX_RULE_BYTES || of_all > MAX_MEMORY_BYTES {
        return Err(too_large(format!(
            "the rules can take {of_one} bytes for an instance and {of_all} for all, more than {MAX_RULE_BYTES} or {MAX_MEMORY_BYTES}: shorten windows, or use patterns that match fewer"
        )));
    }
    Ok(())
}

fn too_large(detail: String) -> Problem {
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "preview_too_large", detail)
}

/// A preview that runs.
struct Preview {
    replay: Replay,
    found: Previewed,
    /// Bytes of the events so far.
    bytes: usize,
}

impl Preview {
    fn run(&mut self, deadline: Instant, has_left: &AtomicBool) -> Result<(), Problem> {
        let mut found = Vec::new();
        loop {
            if has_left.load(Ordering::Relaxed) {
                let detail = "the client has left";
                return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "query_ended", detail));
            }
            let goes_on = self.replay.step(&mut found).map_err(|error| unreadable(&error))?;
            for occurrence in found.drain(..) {
                if !self.event(&occurrence) {
                    return Ok(());
                }
            }
            if !goes_on {
                return Ok(());
            }
            if Instant::now() >= deadline {
                self.found.truncated = true;
                let seconds = PREVIEW_TIMEOUT.as_secs();
                self.note(format!(
                    "it has ended after {seconds} s: choose a shorter time, or fewer instances"
                ));
                return Ok(());
            }
        }
    }

    /// Adds an event. Returns false if there is no room.
    fn event(&mut self, Occurrence { node, instance, event, .. }: &Occurrence) -> bool {
        let source = format!("{node}/{instance}");
        let mut json = event.to_json(self.replay.program(), &source, |time| time.to_string());
        if let Some(members) = json.as_object_mut() {
            members.insert("node".into(), json!(node));
            members.insert("instance".into(), json!(instance));
            members.insert("time".into(), json!(event.time));
            if let Some(since) = event.since {
                members.insert("since".into(), json!(since));
            }
        }
        self.bytes += json.to_string().len();
        if self.found.events.len() == MAX_EVENTS || self.bytes > MOST_BYTES {
            self.found.truncated = true;
            self.note("there are more events than are shown".into());
            return false;
        }
        self.found.events.push(json);
        true
    }

    fn note(&mut self, note: String) {
        if self.found.notes.len() < MAX_NOTES {
            self.found.notes.push(note);
        }
    }

    fn finish(mut self) -> Previewed {
        let unmatched: Vec<_> = self.replay.unmatched().to_vec();
        for at in unmatched {
            if let Some(input) = self.replay.program().inputs.get(at) {
                let note = format!(
                    "input {}: no instance {} of the type {}",
                    input.name, input.pattern, input.probe_type
                );
                self.note(note);
            }
        }
        let notes: Vec<_> = self
            .replay
            .notes()
            .map(|(node, instance, note)| format!("{node}/{instance}: {note}"))
            .take(MAX_NOTES)
            .collect();
        notes.into_iter().for_each(|note| self.note(note));
        let figures = self.replay.figures();
        Previewed {
            instances: figures.instances,
            samples: figures.samples,
            missing: figures.missing,
            ..self.found
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preview_ends_when_its_client_has_left() {
        let replay = Replay::open(&Past::default(), Program::default(), Span::default()).unwrap();
        let mut preview = Preview { replay, found: Previewed::default(), bytes: 0 };
        let has_left = AtomicBool::new(true);
        let problem = preview.run(Instant::now(), &has_left).unwrap_err();
        assert!(problem.is("query_ended"));
        has_left.store(false, Ordering::Relaxed);
        assert!(preview.run(Instant::now() + PREVIEW_TIMEOUT, &has_left).is_ok());
    }
}
