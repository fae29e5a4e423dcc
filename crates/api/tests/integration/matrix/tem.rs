//! The list of the TEM: what each principal sees of it, and who may change it.

use super::{
    people::{On, PEOPLE, Person, person_called},
    world::{World, json},
};
use axum::http::StatusCode;
use serde_json::json;
use std::collections::BTreeSet;

const NODES: [&str; 2] = ["plant-7", "mill"];

/// Registers a DAC with one node.
async fn register(world: &World, person: &Person, dac: &str, node: &str) -> StatusCode {
    let heartbeat = json!({"epoch": "00000000000000aa", "beat": 1, "doors": "http://127.0.0.1:1", "channel": "127.0.0.1:2",
        "software": "x", "health": "ok", "load": {"nodes": 1}, "names_revision": 1, "names": {"online": [node]}});
    world.request(person, "PUT", &format!("/api/v1/tem/dacs/{dac}"), &heartbeat.to_string()).await.status()
}

async fn world() -> World {
    let world = World::new();
    for node in NODES {
        assert_eq!(
            register(&world, person_called("local"), &format!("dac-of-{node}"), node).await,
            StatusCode::OK
        );
    }
    world
}

fn may_know(person: &Person, node: &'static str) -> bool {
    ["pump", "valve"].iter().any(|name| person.reads(On::Instance(node, name)))
}

#[tokio::test]
async fn the_list_has_what_a_principal_may_read() {
    let world = world().await;
    for person in PEOPLE.iter().filter(|person| person.reads(On::Something)) {
        let list = world.get(person, "/api/v1/tem").await;
        let known: BTreeSet<_> = NODES.into_iter().filter(|node| may_know(person, node)).collect();
        let dacs = list["dacs"].as_array().unwrap();
        let listed =
            dacs.iter().flat_map(|dac| dac["nodes"].as_array().unwrap()).map(|node| node.as_str().unwrap());
        assert_eq!(listed.collect::<BTreeSet<_>>(), known, "{}", person.name);
        assert_eq!(dacs.len(), known.len(), "{}", person.name);
        let whole = person.reads(On::Everything);
        assert!(dacs.iter().all(|dac| dac["load"].is_object() == whole), "{}", person.name);
        assert_eq!(list["counters"].is_object(), whole, "{}", person.name);
        assert_eq!(list["position"].as_str().unwrap().ends_with(":0"), !whole, "{}", person.name);
        // Changes contain nothing that the list does not have.
        let after = format!("/api/v1/tem?after={}", list["position"].as_str().unwrap());
        assert_eq!(world.get(person, &after).await["complete"], !whole, "{}", person.name);
    }
}

#[tokio::test]
async fn who_may_read_a_node_learns_where_it_can_be_and_nothing_else() {
    let world = world().await;
    for person in PEOPLE.iter().filter(|person| person.reads(On::Something)) {
        for node in NODES {
            let answer =
                world.request(person, "GET", &format!("/api/v1/tem?node={node}&order=load"), "").await;
            if !may_know(person, node) {
                assert_eq!(answer.status(), StatusCode::FORBIDDEN, "{node} by {}", person.name);
                continue;
            }
            let list = json(answer).await;
            let dacs = list["dacs"].as_array().unwrap();
            assert_eq!(dacs.len(), NODES.len(), "{node} by {}", person.name);
            let listed = dacs.iter().flat_map(|dac| dac["nodes"].as_array().unwrap());
            assert!(
                listed.clone().all(|node| NODES.iter().any(|known| node == known && may_know(person, known)))
            );
        }
    }
}

#[tokio::test]
async fn a_name_is_registered_by_who_may_register_it() {
    let world = World::new();
    let hall = person_called("hall");
    assert_eq!(register(&world, hall, "hall-1", "x").await, StatusCode::OK);
    assert_eq!(register(&world, hall, "mill", "x").await, StatusCode::FORBIDDEN);
    let leave = |dac: &str| format!("/api/v1/tem/dacs/{dac}?epoch=00000000000000aa&beat=2");
    assert_eq!(world.request(hall, "DELETE", &leave("mill"), "").await.status(), StatusCode::FORBIDDEN);
    assert_eq!(world.request(hall, "DELETE", &leave("hall-1"), "").await.status(), StatusCode::NO_CONTENT);
    assert_eq!(world.request(hall, "DELETE", &leave("hall-1"), "").await.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_dac_learns_at_which_pages_its_readers_go_on() {
    let world = World::new();
    let beat = async |name: &str, more: serde_json::Value| {
        let mut heartbeat = json!({"epoch": "00000000000000aa", "beat": 1, "doors": format!("http://{name}:7070"), "channel": "x:2",
            "software": "x", "health": "ok", "names_revision": 1});
        heartbeat.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let path = format!("/api/v1/tem/dacs/{name}");
        json(world.request(person_called("local"), "PUT", &path, &heartbeat.to_string()).await).await
    };
    assert_eq!(beat("alone", json!({})).await["other_pages"], json!([]));
    assert_eq!(beat("relay", json!({"kind": "relay"})).await["other_pages"], json!([]));
    let of_hall = beat("hall", json!({"load": {"relays": true}})).await;
    assert_eq!(of_hall["other_pages"], json!([{"name": "relay", "doors": "http://relay:7070"}]));
    // The next heartbeat of the relay learns of the hall.
    let of_relay = beat("relay", json!({"kind": "relay", "beat": 2})).await;
    assert_eq!(of_relay["other_pages"], json!([{"name": "hall", "doors": "http://hall:7070"}]));
}
