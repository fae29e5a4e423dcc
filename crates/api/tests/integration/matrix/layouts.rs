//! Layouts of the page: conditions of saving, versions, and the address of a dashboard.

use super::{
    people::person_called,
    world::{World, json},
};
use axum::{
    body::{Body, to_bytes},
    extract::ConnectInfo,
    http::{Request, Response, StatusCode, header},
};
use std::net::SocketAddr;

const LAYOUT: &str = "/api/v1/layouts/night";

async fn put(world: &World, condition: Option<(&str, &str)>, body: &str) -> Response<Body> {
    let peer: SocketAddr = ([127, 0, 0, 1], 9).into();
    let mut request =
        Request::put(LAYOUT).extension(ConnectInfo(peer)).header(header::HOST, "127.0.0.1:7070");
    if let Some((name, value)) = condition {
        request = request.header(name, value);
    }
    world.call(request.body(Body::from(body.to_owned())).unwrap()).await
}

#[tokio::test]
async fn a_layout_is_saved_over_the_revision_that_was_read_and_keeps_its_versions() {
    let world = World::new();
    let first = put(&world, Some(("if-none-match", "*")), r#"{"x":1}"#).await;
    assert_eq!(
        (first.status(), &first.headers()[header::ETAG]),
        (StatusCode::NO_CONTENT, &"\"1\"".parse().unwrap())
    );
    let steps = [
        (Some(("if-none-match", "*")), StatusCode::PRECONDITION_FAILED),
        (Some(("if-match", "\"1\"")), StatusCode::NO_CONTENT),
        (Some(("if-match", "\"1\"")), StatusCode::PRECONDITION_FAILED),
        (Some(("if-match", "1")), StatusCode::BAD_REQUEST),
        (Some(("if-match", "*")), StatusCode::BAD_REQUEST),
        (Some(("if-none-match", "\"1\"")), StatusCode::BAD_REQUEST),
        (None, StatusCode::NO_CONTENT),
    ];
    for (condition, status) in steps {
        assert_eq!(put(&world, condition, r#"{"x":2}"#).await.status(), status, "{condition:?}");
    }
    let refused = json(put(&world, Some(("if-match", "\"2\"")), "{}").await).await;
    assert_eq!(refused["type"], "/problems/layout_changed", "{refused}");

    let local = person_called("local");
    let versions = world.get(local, &format!("{LAYOUT}/versions")).await;
    let told: Vec<_> =
        versions["versions"].as_array().unwrap().iter().map(|one| one["revision"].as_u64()).collect();
    assert_eq!(told, [Some(3), Some(2), Some(1)]);
    assert_eq!(versions["versions"][0]["by"], "http 127.0.0.1:9");
    assert_eq!(world.get(local, &format!("{LAYOUT}?revision=1")).await["x"], 1);
    assert_eq!(world.get(local, LAYOUT).await["x"], 2);
    let gone = world.get(local, &format!("{LAYOUT}?revision=9")).await;
    assert_eq!(gone["type"], "/problems/unknown_version");
    for bad in ["?revision=-1", "?revision=x", "?version=1"] {
        let response = world.request(local, "GET", &format!("{LAYOUT}{bad}"), "").await;
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{bad}");
    }
    // Callers that may not read everything do not receive the addresses of others.
    let viewer = world.get(person_called("kiosk"), &format!("{LAYOUT}/versions")).await;
    assert_eq!(viewer["type"], "/problems/forbidden", "{viewer}");
}

#[tokio::test]
async fn the_page_at_the_address_of_a_dashboard_finds_its_files() {
    let world = World::new();
    for path in ["/d/night", "/d/night%20shift?node=plant-7", "/d/..%2F..%2Fetc", "/d/nobody-has-saved-it"] {
        let response = world.request(person_called("stranger"), "GET", path, "").await;
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        assert_eq!(response.headers()[header::CONTENT_TYPE], "text/html");
        let html = to_bytes(response.into_body(), 1 << 20).await.unwrap();
        let html = String::from_utf8_lossy(&html);
        assert!(!html.contains("\"./") && !html.contains("<base"), "{html}");
    }
}
