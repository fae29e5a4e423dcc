//! Actions of operators on alarms.

use super::{alarms, failure, forward, view::AlarmJson};
use crate::{Api, archive::blocking};
use axum::{
    Extension, Json,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode},
};
use oasis_access::Verb;
use oasis_alarms::{
    Action, ActionError, ActionVerb, AlarmKey, AlarmView, Alarms, NotUnderstood, RelayedAlarm,
    UpstreamAnswer, UpstreamRequest,
};
use oasis_dac::now;
use oasis_http::{Problem, permissions::Caller};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

/// Action on an alarm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
#[schema(as = AlarmVerb)]
pub enum RequestedAction {
    Acknowledge,
    Shelve,
    Unshelve,
    Suppress,
    Unsuppress,
    OutOfService,
    InService,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AlarmAction {
    rule: String,
    node: String,
    instance: String,
    action: RequestedAction,
    /// Why, for the journal; at most 1024 bytes.
    comment: Option<String>,
    /// For `shelve`: duration in seconds.
    seconds: Option<u64>,
    /// For `shelve`: until the alarm clears. With `seconds`, until the first of both.
    #[serde(default)]
    once: bool,
}

/// Acknowledges, shelves or suppresses an alarm, takes it out of service, or ends that.
#[utoipa::path(post, path = "/api/v1/alarms/actions", request_body = AlarmAction,
    responses((status = 200, body = AlarmJson), (status = 403, body = Problem), (status = 404, body = Problem),
        (status = 409, body = Problem), (status = 422, body = Problem), (status = 507, body = Problem)))]
pub async fn act(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<AlarmJson>, Problem> {
    api.doors.admit(&headers, "pages of other sites may not change alarms (doors.allowed_origins)")?;
    let asked: AlarmAction = crate::body(&body)?;
    let verb = verb(&asked)?;
    let AlarmAction { rule, node, instance, action: word, comment, .. } = asked;
    let (name, target) = (audited(word), format!("{rule} {node}/{instance}"));
    let arguments = arguments(verb, comment.as_deref());
    if let Err(refusal) = caller.authorize_instance(Verb::Alarms, &node, &instance) {
        api.doors.permissions.record_refusal(&caller, name, &target, arguments, &refusal).await;
        return Err(Problem::from(refusal).recorded());
    }
    let key = AlarmKey { rule, node, instance };
    if let Some(relayed) = of_upstream(&api, &key) {
        let (alarm, asked) = relayed(&asked_of_upstream(&key, word, verb, comment.as_deref()));
        let acting = async move {
            let answer = forward::answer(asked).await?;
            alarm.answered(answer).map_err(|error| not_understood(&error))
        };
        let done = api.doors.permissions.recorded(&caller, name, target, arguments, acting).await?;
        return Ok(Json(AlarmJson::relayed(done, &caller)));
    }
    let alarms = match &api.alarms {
        Some(alarms) => alarms.clone(),
        None if api.relays_alarms() => return Err(problem(ActionError::Unknown(key))),
        None => alarms(&api)?.clone(),
    };
    check_instance(&api, &alarms, &key)?;
    let action = Action { key, verb, comment, principal: caller.author("http"), now: now() };
    let acting = async move { blocking(move || alarms.act(action)).await?.map_err(problem) };
    let done: AlarmView = api.doors.permissions.recorded(&caller, name, target, arguments, acting).await?;
    Ok(Json(AlarmJson::new(done, &caller)))
}

/// An alarm of another DAC, and how an action goes there; none for one of this DAC.
fn of_upstream<'a>(
    api: &'a Api,
    key: &'a AlarmKey,
) -> Option<impl FnOnce(&Value) -> (RelayedAlarm, Option<UpstreamAnswer>) + 'a> {
    if api.alarms.as_ref().is_some_and(|own| own.has(key)) {
        return None;
    }
    let relayed = api.relayed_alarms.as_ref()?;
    let alarm = relayed.get(key)?;
    Some(move |body: &Value| (alarm, relayed.forward(key, UpstreamRequest::Act(body.clone()))))
}

/// The action as the DAC of the alarm receives it.
fn asked_of_upstream(
    key: &AlarmKey,
    word: RequestedAction,
    verb: ActionVerb,
    comment: Option<&str>,
) -> Value {
    let AlarmKey { rule, node, instance } = key;
    let mut body = json!({"rule": rule, "node": node, "instance": instance, "action": word});
    if let ActionVerb::Shelve { seconds, once } = verb {
        (body["seconds"], body["once"]) = (json!(seconds), json!(once));
    }
    if let Some(comment) = comment {
        body["comment"] = comment.into();
    }
    body
}

fn not_understood(error: &NotUnderstood) -> Problem {
    Problem::new(StatusCode::BAD_GATEWAY, "upstream_refused", error.to_string())
}

fn verb(asked: &AlarmAction) -> Result<ActionVerb, Problem> {
    if asked.action != RequestedAction::Shelve && (asked.seconds.is_some() || asked.once) {
        let detail = "only a shelve has seconds or once";
        return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_request", detail));
    }
    Ok(match asked.action {
        RequestedAction::Acknowledge => ActionVerb::Acknowledge,
        RequestedAction::Shelve => ActionVerb::Shelve { seconds: asked.seconds, once: asked.once },
        RequestedAction::Unshelve => ActionVerb::Unshelve,
        RequestedAction::Suppress => ActionVerb::Suppress,
        RequestedAction::Unsuppress => ActionVerb::Unsuppress,
        RequestedAction::OutOfService => ActionVerb::OutOfService,
        RequestedAction::InService => ActionVerb::InService,
    })
}

/// The name of an action in the audit log.
fn audited(asked: RequestedAction) -> &'static str {
    match asked {
        RequestedAction::Acknowledge => "alarm:acknowledge",
        RequestedAction::Shelve => "alarm:shelve",
        RequestedAction::Unshelve => "alarm:unshelve",
        RequestedAction::Suppress => "alarm:suppress",
        RequestedAction::Unsuppress => "alarm:unsuppress",
        RequestedAction::OutOfService => "alarm:out-of-service",
        RequestedAction::InService => "alarm:in-service",
    }
}

fn arguments(verb: ActionVerb, comment: Option<&str>) -> Value {
    let mut arguments = json!({});
    if let ActionVerb::Shelve { seconds, once } = verb {
        arguments = json!({"seconds": seconds, "once": once});
    }
    if let Some(comment) = comment {
        arguments["comment"] = comment.into();
    }
    arguments
}

/// An alarm that was never raised has an instance to be silenced for.
fn check_instance(api: &Api, alarms: &Alarms, key: &AlarmKey) -> Result<(), Problem> {
    if alarms.has(key) || api.doors.dac.registry.find(&key.node, &key.instance).is_some() {
        return Ok(());
    }
    Err(problem(ActionError::Unknown(key.clone())))
}

fn problem(error: ActionError) -> Problem {
    let (status, code) = match &error {
        ActionError::Unknown(_) => (StatusCode::NOT_FOUND, "unknown_alarm"),
        ActionError::Conflict(_) => (StatusCode::CONFLICT, "alarm_state"),
        ActionError::Endless | ActionError::Seconds(_) | ActionError::Comment(_) => {
            (StatusCode::UNPROCESSABLE_ENTITY, "bad_request")
        }
        ActionError::TooMany(_) => (StatusCode::CONFLICT, "too_many_alarms"),
        ActionError::Store(error) => return failure(error),
    };
    Problem::new(status, code, error.to_string())
}
