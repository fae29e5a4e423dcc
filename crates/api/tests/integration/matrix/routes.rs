//! The routes.

use super::{
    expected::{Expected, ROUTES},
    people::{Answer, On, PEOPLE, person_called},
    world::{INSTANCES, NAMES, World, verdict},
};
use axum::http::{Method, StatusCode};
use oasis_http::permissions::{Requirement, Route};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Topic numbers begin at this one.
pub fn uri(path: &str) -> String {
    let hash = "0".repeat(64);
    [
        ("{id}", "4000000"),
        ("{node}", "x"),
        ("{hash}", &hash),
        ("{name}", "x"),
        ("{test_run}", "1"),
        ("{annotation}", "1"),
    ]
    .iter()
    .fold(path.to_owned(), |uri, (parameter, value)| uri.replace(parameter, value))
}

fn name(route: &Route) -> String {
    format!("{} {}", route.method, route.path)
}

#[tokio::test]
async fn each_route_has_a_line_of_what_it_needs() {
    let world = World::new();
    let routes: BTreeSet<String> = world.api.routes().table().iter().map(name).collect();
    let expected: BTreeSet<String> = ROUTES.iter().map(|expected| expected.route.to_owned()).collect();
    let new: Vec<_> = routes.difference(&expected).collect();
    assert!(
        new.is_empty(),
        "say in crates/api/tests/integration/matrix/expected.rs what these routes need: {new:?}"
    );
    let old: Vec<_> = expected.difference(&routes).collect();
    assert!(
        old.is_empty(),
        "crates/api/tests/integration/matrix/expected.rs has routes that are gone: {old:?}"
    );
    assert_eq!(expected.len(), ROUTES.len(), "a route is there twice");
}

#[tokio::test]
async fn each_route_gives_each_principal_the_verdict_that_is_written_down() {
    let world = World::new();
    let mut combinations = 0;
    for route in world.api.routes().table() {
        let Some(Expected { verbs, on, .. }) = ROUTES.iter().find(|known| known.route == name(route)) else {
            panic!("say in crates/api/tests/integration/matrix/expected.rs what {} needs", name(route));
        };
        let is_change = !matches!(route.method, Method::GET | Method::HEAD);
        for person in PEOPLE {
            let context = format!("{} by {}", name(route), person.name);
            // These two end or change the session of whoever asks.
            let wanted = match name(route).as_str() {
                "DELETE /api/v1/session" if person.name == "signed-in" => continue,
                "POST /api/v1/session/csrf" if ["signed-in", "forged"].contains(&person.name) => continue,
                "DELETE /api/v1/session" | "PUT /api/v1/session/password" if person.name == "forged" => {
                    Answer::Csrf
                }
                _ if is_change => person.answers_to_change((verbs, *on), &[]),
                _ => person.answer(verbs, *on),
            };
            let response = world.request(person, route.method.as_str(), &uri(route.path), "").await;
            assert!(!response.status().is_server_error(), "{context}: {}", response.status());
            let found = verdict(response).await;
            // The number of the instance does not exist.
            let found = if found == Answer::Unknown { Answer::Allowed } else { found };
            assert_eq!(found, wanted, "{context}");
            combinations += 1;
        }
    }
    println!("{combinations} combinations of routes and principals");
    assert!(combinations >= 1_000, "{combinations}");
}

#[tokio::test]
async fn the_table_has_each_route_of_the_openapi_document() {
    let world = World::new();
    let routes = world.api.routes();
    let table: BTreeSet<String> =
        routes.table().iter().map(|route| format!("{} {}", route.method, route.path)).collect();
    assert_eq!(table.len(), routes.table().len(), "a route is there twice");
    let document = serde_json::to_value(oasis_api::openapi()).unwrap();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            let route = format!("{} {path}", method.to_uppercase());
            assert!(table.contains(&route), "{route} has no requirement");
        }
    }
}

#[tokio::test]
async fn the_openapi_document_says_which_routes_need_a_permission() {
    let world = World::new();
    let document = serde_json::to_value(oasis_api::openapi()).unwrap();
    for Route { method, path, requires } in world.api.routes().table() {
        let operation = &document["paths"][*path][method.as_str().to_lowercase()];
        if operation.is_null() {
            continue;
        }
        let is_open = *requires == Requirement::Nothing;
        assert_eq!(operation["security"].is_null(), is_open, "{method} {path}");
        assert!(is_open || operation["responses"]["401"].is_object(), "{method} {path}");
    }
}

#[tokio::test]
async fn the_reference_says_what_each_route_requires() {
    let world = World::new();
    let reference = include_str!("../../../../../docs/reference/permissions.md");
    let mut missing = Vec::new();
    for Route { method, path, requires } in world.api.routes().table() {
        let verbs = requires.verbs().iter().map(|verb| format!("`{}`", verb.word())).collect::<Vec<_>>();
        let needs = match requires {
            Requirement::Nothing => "nothing".to_owned(),
            Requirement::Somewhere(verbs) if verbs.len() > 2 => "any command, on something".to_owned(),
            Requirement::Somewhere(_) => format!("{}, on something", verbs.join(" or ")),
            Requirement::Everywhere(_) => format!("{}, on everything", verbs.join(" or ")),
        };
        let line = format!("| `{method} {path}` | {needs} |");
        missing.extend((!reference.contains(&line)).then_some(line));
    }
    assert!(missing.is_empty(), "docs/reference/permissions.md lacks these lines:\n{}", missing.join("\n"));
}

#[tokio::test]
async fn each_text_door_asks_for_each_instance() {
    let world = World::new();
    let live = ["samples", "samples/wait", "samples/stream", "samples/events", "stream.sse"];
    let past = ["history.arrow", "history.mcap", "history.parquet"];
    let doors = [&live[..], &past].concat();
    let mut combinations = 0;
    for (node, instance) in NAMES {
        let on = On::Instance(node, instance);
        let exists = INSTANCES.contains(&(node, instance));
        for (door, (times, needed)) in doors.iter().flat_map(|door| times().map(move |times| (door, times))) {
            let uri = format!("/api/v1/{door}?node={node}&instance={instance}&timeout_ms=0{times}");
            let needed = if past.contains(door) { &["read-past"][..] } else { needed };
            let first = if past.contains(door) { &["read-past"][..] } else { &["read-live", "read-past"] };
            for person in PEOPLE {
                let mut all = vec![(first, On::Something)];
                all.extend(needed.iter().map(|verb| (std::slice::from_ref(verb), on)));
                let mut wanted = person.answers(&all);
                let response = world.request(person, "GET", &uri, "").await;
                // Without the feature there is no Arrow: 501, whether the instance exists or not.
                let is_there = response.status() != StatusCode::NOT_IMPLEMENTED;
                if wanted == Answer::Allowed && !exists && is_there {
                    wanted = Answer::Unknown;
                }
                assert_eq!(verdict(response).await, wanted, "{uri} by {}", person.name);
                combinations += 1;
            }
        }
    }
    println!("{combinations} combinations of text doors, instances and principals");
    assert!(combinations >= 1_900, "{combinations}");
}

/// Times, and the verbs that they need.
fn times() -> [(&'static str, &'static [&'static str]); 3] {
    [
        ("", &["read-live"]),
        ("&from=earliest", &["read-live", "read-past"]),
        ("&from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z", &["read-past"]),
    ]
}

#[tokio::test]
async fn each_command_asks_for_its_verb_on_its_instance() {
    let world = World::new();
    let all: Vec<String> = COMMANDS.iter().map(|(name, _)| format!("command:{name}")).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let mut combinations = 0;
    for ((name, arguments), (node, instance)) in
        COMMANDS.iter().flat_map(|command| NAMES.map(|target| (command, target)))
    {
        let mut body = json!({"node": node, "instance": instance, "command": name});
        body.as_object_mut().unwrap().extend(arguments().as_object().unwrap().clone());
        let verb = format!("command:{name}");
        for person in PEOPLE {
            let then = [(&[verb.as_str()][..], On::Instance(node, instance))];
            let mut wanted = person.answers_to_change((&all, On::Something), &then);
            if wanted == Answer::Allowed && !INSTANCES.contains(&(node, instance)) {
                wanted = Answer::Unknown;
            }
            let found =
                verdict(world.request(person, "POST", "/api/v1/commands", &body.to_string()).await).await;
            assert_eq!(found, wanted, "{body} by {}", person.name);
            combinations += 1;
        }
    }
    println!("{combinations} combinations of commands, instances and principals");
    assert!(combinations >= 800, "{combinations}");
}

#[tokio::test]
async fn each_annotation_asks_for_its_target() {
    let world = World::new();
    let needed = &["annotations"][..];
    for (node, instance) in NAMES {
        let body = json!({"text": "x", "targets": [{"node": node, "instance": instance}]}).to_string();
        for person in PEOPLE {
            let then = [(needed, On::Instance(node, instance))];
            let wanted = person.answers_to_change((needed, On::Something), &then);
            // There is no archive: that is said only to those who may.
            let found = verdict(world.request(person, "POST", "/api/v1/annotations", &body).await).await;
            assert_eq!(found, wanted, "{body} by {}", person.name);
        }
    }
    for person in PEOPLE {
        let then = [(needed, On::Everything)];
        let wanted = person.answers_to_change((needed, On::Something), &then);
        let found =
            verdict(world.request(person, "POST", "/api/v1/annotations", r#"{"text": "x"}"#).await).await;
        assert_eq!(found, wanted, "{}", person.name);
    }
}

type Command = (&'static str, fn() -> Value);

/// Each command with its arguments.
pub const COMMANDS: [Command; 8] = [
    ("hertz", || json!({"hertz": 5})),
    ("enable", || json!({})),
    ("disable", || json!({})),
    ("sample-now", || json!({})),
    ("trigger", || json!({})),
    ("deadband", || json!({"metric": "x"})),
    ("demand", || json!({"min": 1, "max": 2})),
    ("demand-off", || json!({})),
];

#[tokio::test]
async fn lists_leave_out_what_a_principal_may_not_see() {
    let world = World::new();
    for person in PEOPLE.iter().filter(|person| person.reads(On::Something)) {
        let seen: BTreeSet<_> =
            INSTANCES.into_iter().filter(|(node, name)| person.reads(On::Instance(node, name))).collect();
        for path in ["instances", "instances?limit=100", "ledger", "audit", "registry"] {
            let answer = world.get(person, &format!("/api/v1/{path}")).await;
            let listed = answer["instances"].as_array().unwrap_or_else(|| panic!("{path}: {answer}"));
            let names = listed.iter().map(|entry| (text(&entry["node"]), text(&entry["instance"])));
            assert_eq!(names.collect::<BTreeSet<_>>(), seen, "{path} by {}", person.name);
            if path.starts_with("instances") {
                assert_eq!(answer["total"], seen.len(), "{path} by {}", person.name);
            }
        }
        let nodes = world.get(person, "/api/v1/nodes").await;
        let counts = nodes["nodes"].as_array().unwrap().iter();
        let counted: u64 = counts.map(|node| node["instances"].as_u64().unwrap()).sum();
        assert_eq!(counted, seen.len() as u64, "{}: {nodes}", person.name);
        let whole = world.get(person, "/api/v1/ledger").await["log_bytes"].is_number();
        assert_eq!(whole, person.reads(On::Everything), "{}", person.name);
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[tokio::test]
async fn a_hidden_instance_is_answered_as_one_that_does_not_exist() {
    let world = World::new();
    let registry = &world.doors.dac.registry;
    for (node, name) in INSTANCES {
        let topic = registry.find(node, name).unwrap().topic.0;
        for person in PEOPLE {
            let needed = [
                (&["read-live", "read-past"][..], On::Something),
                (&["read-live"][..], On::Instance(node, name)),
            ];
            let wanted = match person.answers(&needed) {
                Answer::SignIn if person.reads(On::Something) => Answer::Unknown,
                other => other,
            };
            let uri = format!("/api/v1/instances/{topic}");
            assert_eq!(
                verdict(world.request(person, "GET", &uri, "").await).await,
                wanted,
                "{}",
                person.name
            );
        }
    }
    let kiosk = person_called("kiosk");
    let detail = |node: &'static str| {
        let uri = format!("/api/v1/samples?node={node}&instance=pump");
        let world = &world;
        async move { world.get(kiosk, &uri).await["detail"].as_str().unwrap().replace(node, "") }
    };
    assert_eq!(detail("mill").await, detail("nowhere").await);
}
