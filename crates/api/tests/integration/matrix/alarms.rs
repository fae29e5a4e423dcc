//! Alarms over HTTP: who sees which, who may act, and how changes arrive.

use super::{
    people::{Answer, On, PEOPLE, person_called},
    session::Signed,
    world::{INSTANCES, NAMES, World, json, verdict},
};
use axum::{
    body::{Body, BodyDataStream},
    http::{Request, Response, StatusCode, header},
};
use futures_util::StreamExt;
use oasis_alarms::{Arrival, At, EventIdentity, EventKey, NodeConnection, Round, RuleEvent, RuleFacts};
use oasis_api::Api;
use oasis_rules::{EventKind, Standing, program::Severity};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use uuid::Uuid;

const RULE: &str = "Hot";

fn facts() -> RuleFacts {
    let message = Some("{node}/{instance} is hot".into());
    RuleFacts { name: RULE.into(), severity: Severity::High, latch: false, message, notify: None }
}

fn happen(world: &World, (node, instance): (&str, &str), kind: EventKind, sequence: u64) {
    let (rule, at) = (RULE, At::Sequence(sequence));
    let key = EventKey::new(EventIdentity { rule, node, instance, run: None, at, kind, index: 0 });
    let is_raised = kind == EventKind::Raised;
    let event = RuleEvent {
        standing: Some(if is_raised { Standing::Active } else { Standing::Normal }),
        sequence: Some(sequence),
        time: sequence,
        dac_time: sequence,
        value: Some(f64::INFINITY),
        limit: Some(95.0),
        ..RuleEvent::new(key, rule, (node, instance), kind)
    };
    let committed =
        world.alarms.commit(Round { now: oasis_dac::now(), events: vec![event], checkpoints: vec![] });
    assert_eq!(committed.unwrap().events, 1);
}

/// A world in which an alarm stands for each instance.
fn hot_world() -> World {
    let world = World::new();
    heat(&world);
    world
}

fn heat(world: &World) {
    world.alarms.set_rules(&[facts()]).unwrap();
    INSTANCES.iter().for_each(|name| happen(world, *name, EventKind::Raised, 7));
}

/// The nodes of all instances, as they come to this DAC.
fn arrivals() -> Vec<Arrival> {
    let nodes: BTreeSet<_> = INSTANCES.iter().map(|(node, _)| *node).collect();
    let home = NodeConnection { run: Uuid::from_u128(1), attach: Some(1), since: 1 };
    let arrival = |node: &str| Arrival { node: node.into(), home, from: None, checkpoints: vec![] };
    nodes.into_iter().map(arrival).collect()
}

fn names(list: &Value) -> BTreeSet<(&str, &str)> {
    let list = list.as_array().unwrap();
    list.iter().map(|alarm| (alarm["node"].as_str().unwrap(), alarm["instance"].as_str().unwrap())).collect()
}

#[tokio::test]
async fn everybody_sees_the_alarms_of_what_he_may_read() {
    let world = hot_world();
    world.alarms.settle_homes(oasis_dac::now(), arrivals()).unwrap();
    for person in PEOPLE {
        let seen = |verb| {
            let is_seen = |name: &(&'static str, &'static str)| {
                person.answer(&[verb], On::Instance(name.0, name.1)) == Answer::Allowed
            };
            INSTANCES.into_iter().filter(is_seen).collect::<BTreeSet<_>>()
        };
        let (live, past) = (seen("read-live"), seen("read-past"));
        if !live.is_empty() {
            let list = world.get(person, "/api/v1/alarms").await;
            assert_eq!(names(&list["alarms"]), live, "{}", person.name);
            let figures = world.get(person, "/api/v1/alarms/statistics").await;
            assert_eq!(figures["standing"]["high"], live.len(), "{}", person.name);
            assert_eq!(names(&figures["most_frequent"]), live, "{}", person.name);
            let is_whole = person.reads(On::Everything);
            assert_eq!(figures["journal"]["entries"].is_number(), is_whole, "{}", person.name);
        }
        if !past.is_empty() {
            let journal = world.get(person, "/api/v1/alarms/journal").await;
            assert_eq!(names(&journal["entries"]), past, "{}", person.name);
            let handover = world.get(person, "/api/v1/rules/handover").await;
            let nodes = handover["nodes"].as_array().unwrap().iter();
            let (mut given, mut alarms) = (BTreeSet::new(), BTreeSet::new());
            for node in nodes {
                given.insert(node["node"].as_str().unwrap());
                alarms.extend(names(&node["alarms"]));
            }
            assert_eq!(alarms, live.intersection(&past).copied().collect(), "{}", person.name);
            let seen = live.union(&past).map(|(node, _)| *node).collect::<BTreeSet<_>>();
            assert_eq!(given, seen, "{}", person.name);
        }
    }
}

#[tokio::test]
async fn each_action_asks_for_its_instance() {
    let world = hot_world();
    let needed = &["alarms"][..];
    for (node, instance) in NAMES {
        let body =
            json!({"rule": RULE, "node": node, "instance": instance, "action": "acknowledge"}).to_string();
        for person in PEOPLE {
            let then = [(needed, On::Instance(node, instance))];
            let wanted = person.answers_to_change((needed, On::Something), &then);
            // Only callers who may act on an alarm learn whether it exists.
            let found = verdict(world.request(person, "POST", "/api/v1/alarms/actions", &body).await).await;
            assert_eq!(found, wanted, "{body} by {}", person.name);
        }
    }
}

async fn act(world: &World, person: &str, body: Value) -> (StatusCode, Value) {
    let response =
        world.request(person_called(person), "POST", "/api/v1/alarms/actions", &body.to_string()).await;
    (response.status(), json(response).await)
}

#[tokio::test]
async fn an_operator_acknowledges_and_shelves() {
    let world = hot_world();
    let on = |action: &str| json!({"rule": RULE, "node": "plant-7", "instance": "pump", "action": action});
    let mut acknowledge = on("acknowledge");
    acknowledge["comment"] = "on my way".into();
    let (status, alarm) = act(&world, "watch", acknowledge.clone()).await;
    assert_eq!(status, StatusCode::OK, "{alarm}");
    assert_eq!(alarm["acknowledged"], true);
    assert_eq!((&alarm["comment"], &alarm["message"]), (&json!("on my way"), &json!("plant-7/pump is hot")));
    // Without the address, for one who may not read everything. An infinite number is none.
    assert_eq!(alarm["principal"], "program:watch http");
    assert!(alarm.get("value").is_none() && alarm["limit"] == 95.0, "{alarm}");

    let (status, problem) = act(&world, "watch", acknowledge).await;
    assert_eq!((status, &problem["type"]), (StatusCode::CONFLICT, &json!("/problems/alarm_state")));
    let mut shelve = on("shelve");
    let (status, problem) = act(&world, "watch", shelve.clone()).await;
    assert_eq!(
        (status, &problem["type"]),
        (StatusCode::UNPROCESSABLE_ENTITY, &json!("/problems/bad_request"))
    );
    shelve["seconds"] = 60.into();
    let (_, alarm) = act(&world, "watch", shelve).await;
    assert!(alarm["shelved_until"].as_u64() > Some(oasis_dac::now().0), "{alarm}");
    let (_, alarm) = act(&world, "watch", on("unshelve")).await;
    assert!(alarm.get("shelved_until").is_none(), "{alarm}");
    for (action, field, value) in [
        ("suppress", "suppressed", true),
        ("unsuppress", "suppressed", false),
        ("out-of-service", "out_of_service", true),
        ("in-service", "out_of_service", false),
    ] {
        let (status, alarm) = act(&world, "watch", on(action)).await;
        assert_eq!((status, &alarm[field]), (StatusCode::OK, &json!(value)), "{action}");
    }
    let mut wrong = on("suppress");
    wrong["once"] = true.into();
    assert_eq!(act(&world, "watch", wrong).await.0, StatusCode::UNPROCESSABLE_ENTITY);
    let journal =
        world.get(person_called("local"), "/api/v1/alarms/journal?instance=pump&node=plant-7").await;
    let entries = journal["entries"].as_array().unwrap();
    let kinds: Vec<_> = entries.iter().rev().map(|entry| entry["kind"].as_str().unwrap()).collect();
    let actions = [
        "acknowledged",
        "shelved",
        "unshelved",
        "suppressed",
        "unsuppressed",
        "out_of_service",
        "in_service",
    ];
    assert_eq!(kinds, [&["raised"][..], &actions].concat());
    assert_eq!(entries[6]["principal"], "program:watch http 127.0.0.1:9");
}

#[tokio::test]
async fn the_audit_log_has_actions_and_refusals() {
    let signed = Signed::new();
    heat(&signed.world);
    for instance in ["pump", "valve"] {
        let body =
            json!({"rule": RULE, "node": "plant-7", "instance": instance, "action": "shelve", "once": true});
        act(&signed.world, "watch", body).await;
    }
    let records = signed.records();
    let records = records.iter().filter(|record| record.action == "alarm:shelve");
    let found: Vec<_> = records.map(|record| (record.target.as_str(), record.result.as_str())).collect();
    let pump = "Hot plant-7/pump";
    assert_eq!(found, [(pump, "begun"), (pump, "done"), ("Hot plant-7/valve", "forbidden")]);
}

#[tokio::test]
async fn only_instances_that_exist_can_be_silenced_before_their_alarm_is_raised() {
    let world = World::new();
    world.alarms.set_rules(&[facts()]).unwrap();
    let on = |rule: &str, instance: &str| json!({"rule": rule, "node": "mill", "instance": instance, "action": "suppress"});
    for (rule, instance) in [(RULE, "none"), ("None", "pump")] {
        let (status, problem) = act(&world, "operator", on(rule, instance)).await;
        assert_eq!((status, &problem["type"]), (StatusCode::NOT_FOUND, &json!("/problems/unknown_alarm")));
    }
    assert_eq!(act(&world, "operator", on(RULE, "pump")).await.0, StatusCode::OK);
}

#[tokio::test]
async fn lists_are_filtered_and_paged() {
    let world = hot_world();
    happen(&world, ("mill", "pump"), EventKind::Cleared, 8);
    let local = person_called("local");
    let get = async |query: &str| world.get(local, &format!("/api/v1/alarms{query}")).await;
    assert_eq!(names(&get("").await["alarms"]), [("plant-7", "pump"), ("plant-7", "valve")].into());
    let first = get("?state=all&limit=2").await;
    assert_eq!(names(&first["alarms"]), [("mill", "pump"), ("plant-7", "pump")].into());
    let after: String = first["next"].as_str().unwrap().bytes().map(|byte| format!("%{byte:02x}")).collect();
    let second = get(&format!("?state=all&limit=2&after={after}")).await;
    assert_eq!((names(&second["alarms"]), &second["next"]), ([("plant-7", "valve")].into(), &Value::Null));
    assert!(names(&get("?severity=low").await["alarms"]).is_empty());

    let first = get("/journal?limit=3").await;
    let second = get(&format!("/journal?after={}&kind=raised", first["next"])).await;
    assert_eq!((second["entries"].as_array().unwrap().len(), &second["next"]), (1, &Value::Null));
    for wrong in [
        "?state=up",
        "?severity=bad",
        "?after=x",
        "/journal?kind=x",
        "/journal?from=x",
        "/journal?from=-1m&to=-2m",
    ] {
        let problem = get(wrong).await;
        assert_eq!(problem["status"], 400, "{wrong}: {problem}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sql_has_the_alarms_and_events_of_what_its_author_may_read() {
    let world = World::archived();
    heat(&world);
    happen(&world, ("plant-7", "pump"), EventKind::Cleared, 8);
    let query = async |person: &str, query: &str| {
        let body = json!({"query": query}).to_string();
        json(world.request(person_called(person), "POST", "/api/v1/sql", &body).await).await
    };
    let answer = query(
        "operator",
        "SELECT node, instance, alarms.state, time_ns FROM alarms JOIN events USING (rule, node, instance)
        WHERE kind = 'cleared' AND events.time < '1970-01-02'",
    )
    .await;
    assert_eq!(answer["rows"], json!([["plant-7", "pump", "normal", 8]]), "{answer}");
    let answer =
        query("operator", "SELECT count(*), max(time) FROM events WHERE value IS NULL OR value > 1e300")
            .await;
    assert_eq!(answer["rows"], json!([[4, "1970-01-01T00:00:00.000000008Z"]]), "{answer}");
    // May send SQL, and read nothing.
    let answer = query("nobody", "SELECT (SELECT count(*) FROM alarms), (SELECT count(*) FROM events)").await;
    assert_eq!(answer["rows"], json!([[0, 0]]), "{answer}");
}

/// Events of a stream.
struct Events {
    parts: BodyDataStream,
    text: String,
}

impl Events {
    async fn open(world: &World, person: &str, last: Option<u64>) -> Self {
        let person = person_called(person);
        let (headers, peer) = world.identity(person, 7070);
        let mut request =
            Request::builder().uri("/api/v1/alarms/events").header(header::HOST, "127.0.0.1:7070");
        request = headers.into_iter().fold(request, |request, (name, value)| request.header(name, value));
        request = last.into_iter().fold(request, |request, last| request.header("last-event-id", last));
        let request = request.extension(axum::extract::ConnectInfo(peer));
        let response: Response<Body> = world.call(request.body(Body::empty()).unwrap()).await;
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()[header::CONTENT_TYPE], "text/event-stream");
        Self { parts: response.into_body().into_data_stream(), text: String::new() }
    }

    /// The next event: its name, its id, and its data.
    async fn next(&mut self) -> (String, Option<u64>, Value) {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let field =
                    |name: &str| event.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
                let (name, id, data) = (field("event: "), field("id: "), field("data: "));
                self.text = rest.to_owned();
                let Some(name) = name else { continue };
                let data = serde_json::from_str(&data.unwrap()).unwrap();
                return (name, id.map(|id| id.parse().unwrap()), data);
            }
            let part = self.parts.next().await.expect("the stream has not ended").unwrap();
            self.text.push_str(std::str::from_utf8(&part).unwrap());
        }
    }
}

#[tokio::test]
async fn changes_arrive_as_they_happen_and_a_reader_resumes() {
    let world = hot_world();
    let mut events = Events::open(&world, "pump", None).await;
    let (name, first, list) = events.next().await;
    assert_eq!((name.as_str(), names(&list["alarms"])), ("alarms", [("plant-7", "pump")].into()));
    assert_eq!((&list["next"], list["revision"].as_u64()), (&Value::Null, first));

    // Alarms that it may not see do not arrive.
    happen(&world, ("mill", "pump"), EventKind::Cleared, 8);
    happen(&world, ("plant-7", "pump"), EventKind::Cleared, 9);
    let (name, id, alarm) = events.next().await;
    assert_eq!((name.as_str(), &alarm["state"], alarm["revision"].as_u64()), ("alarm", &json!("normal"), id));
    assert_eq!((&alarm["node"], &alarm["acknowledged"]), (&json!("plant-7"), &json!(true)));

    // A reader that was away gets the change and not the list.
    drop(events);
    happen(&world, ("plant-7", "pump"), EventKind::Raised, 10);
    let mut events = Events::open(&world, "pump", id).await;
    let (name, id, alarm) = events.next().await;
    assert_eq!((name.as_str(), &alarm["state"]), ("alarm", &json!("active")));
    world.alarms.set_rules(&[]).unwrap();
    let (name, _, alarm) = events.next().await;
    assert_eq!(
        (name.as_str(), &alarm["removed"], &alarm["state"]),
        ("alarm", &json!(true), &json!("normal"))
    );
    // One that knows a revision of another DAC gets the list.
    let mut events = Events::open(&world, "pump", id.map(|id| id + 1_000)).await;
    assert_eq!(events.next().await.0, "alarms");
}

#[tokio::test]
async fn a_long_list_comes_in_pages() {
    let world = World::new();
    world.alarms.set_rules(&[facts()]).unwrap();
    for sequence in 0..450 {
        happen(&world, ("plant-7", &format!("pump {sequence:03}")), EventKind::Raised, sequence);
    }
    let mut events = Events::open(&world, "local", None).await;
    let mut counts = Vec::new();
    loop {
        let (_, id, list) = events.next().await;
        counts.push(list["alarms"].as_array().unwrap().len());
        assert_eq!(id.is_some(), list["next"].is_null());
        if id.is_some() {
            break;
        }
    }
    assert_eq!(counts, [200, 200, 50]);
}

#[tokio::test]
async fn a_reader_whose_token_is_revoked_hears_nothing_more() {
    let world = hot_world();
    let mut events = Events::open(&world, "pump", None).await;
    events.next().await;
    world.doors.permissions.access.change(|accounts| accounts.revoke_token("pump")).unwrap();
    happen(&world, ("plant-7", "pump"), EventKind::Cleared, 8);
    let (name, _, end) = events.next().await;
    assert_eq!((name.as_str(), &end["cause"]), ("end", &json!("access_ended")));
}

#[tokio::test]
async fn without_rules_the_answer_says_how_to_have_alarms() {
    let world = World::new();
    let problem = get_as_local(world.api.clone().with_alarms(None), "/api/v1/alarms").await;
    assert_eq!(problem["type"], "/problems/no_alarms", "{problem}");
    assert!(problem["detail"].as_str().unwrap().contains("[rules]"), "{problem}");
}

#[tokio::test]
async fn the_session_says_whether_there_are_alarms() {
    let world = World::new();
    assert_eq!(get_as_local(world.api.clone(), "/api/v1/session").await["alarms"], true);
    assert_eq!(
        get_as_local(world.api.clone().with_alarms(None), "/api/v1/session").await["alarms"],
        Value::Null
    );
}

/// Returns the answer to a user on this host.
async fn get_as_local(api: Api, path: &str) -> Value {
    let request = Request::builder()
        .uri(path)
        .header(header::HOST, "127.0.0.1:7070")
        .extension(axum::extract::ConnectInfo(std::net::SocketAddr::from(([127, 0, 0, 1], 9))));
    let mut router = Api::router(api);
    json(tower_service::Service::call(&mut router, request.body(Body::empty()).unwrap()).await.unwrap()).await
}
