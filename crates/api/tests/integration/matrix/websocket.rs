//! The messages of both protocols of the WebSocket, over real sockets.

use super::{
    people::{Answer, On, PEOPLE, Person, person_called},
    routes::COMMANDS,
    world::{INSTANCES, NAMES, World},
};
use futures_util::{SinkExt, StreamExt};
use oasis_access::Moment;
use serde_json::{Value, json};
use std::{collections::BTreeSet, future::pending, net::SocketAddr, time::Duration};
use tokio::{
    net::{TcpListener, TcpStream},
    time::timeout,
};
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{Error, Message, client::IntoClientRequest},
};

/// Enough on a loaded machine; what is to be seen takes less than 5 s.
pub const TEST_TIMEOUT: Duration = Duration::from_secs(90);

pub type Socket = WebSocketStream<TcpStream>;

pub async fn served() -> (World, SocketAddr) {
    let world = World::new();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(oasis_api::serve(world.api.clone(), listener, pending()));
    (world, address)
}

/// A WebSocket, or the status of the answer in place of it.
pub async fn connect(
    world: &World,
    address: SocketAddr,
    person: &Person,
    path: &str,
    protocol: Option<&'static str>,
) -> Result<Socket, u16> {
    let mut request = format!("ws://{address}{path}").into_client_request().unwrap();
    let headers = request.headers_mut();
    if let Some(protocol) = protocol {
        headers.insert("sec-websocket-protocol", protocol.parse().unwrap());
    }
    let (shown, peer) = world.identity(person, address.port());
    for (name, value) in shown {
        headers.insert(name, value.parse().unwrap());
    }
    // No peer is local through a proxy.
    if !peer.ip().is_loopback() {
        headers.insert("x-forwarded-for", "10.1.2.3".parse().unwrap());
    }
    let stream = TcpStream::connect(address).await.unwrap();
    match client_async(request, stream).await {
        Ok((socket, _)) => Ok(socket),
        Err(Error::Http(answer)) => Err(answer.status().as_u16()),
        Err(error) => panic!("{error}"),
    }
}

/// The next message that is wanted.
async fn next(socket: &mut Socket, is_wanted: impl Fn(&Value) -> bool) -> Value {
    let found = async {
        loop {
            let message = socket.next().await.expect("it is open").unwrap();
            let Message::Text(text) = message else { continue };
            let message: Value = serde_json::from_str(&text).unwrap();
            if is_wanted(&message) {
                return message;
            }
        }
    };
    timeout(TEST_TIMEOUT, found).await.expect("an answer")
}

async fn request(socket: &mut Socket, id: i64, mut message: Value) -> Value {
    message["id"] = json!(id);
    socket.send(Message::text(message.to_string())).await.unwrap();
    next(socket, |answer| answer["id"] == id).await
}

fn answer_of(message: &Value) -> Answer {
    match message["code"].as_str() {
        Some("unknown_instance") => Answer::Unknown,
        Some("forbidden") => Answer::Forbidden,
        Some("sign_in_required") => Answer::SignIn,
        _ => Answer::Allowed,
    }
}

#[tokio::test]
async fn each_protocol_asks_at_its_handshake() {
    let (world, address) = served().await;
    for person in PEOPLE {
        let native = person.answer(&["read-live", "read-past"], On::Something);
        let old = [
            (&["read-live", "read-past"][..], On::Something),
            (&["eisa"], On::Something),
            (&["read-live"], On::Something),
        ];
        let old = person.answers(&old);
        for path in ["/ws", "/"] {
            for (protocol, wanted) in [(Some("oasis.v1"), native), (None, old)] {
                let found = connect(&world, address, person, path, protocol).await;
                assert_eq!(found.err(), wanted.status(), "{path} {protocol:?} by {}", person.name);
            }
        }
    }
}

#[tokio::test]
async fn each_message_asks_for_its_instance() {
    let (world, address) = served().await;
    let mut combinations = 0;
    for person in PEOPLE.iter().filter(|person| person.reads(On::Something)) {
        let mut socket = connect(&world, address, person, "/ws", Some("oasis.v1")).await.unwrap();
        let mut id = 0;
        for (node, instance) in NAMES {
            let on = On::Instance(node, instance);
            let exists = INSTANCES.contains(&(node, instance));
            let mut messages = vec![
                (json!({"op": "subscribe"}), vec!["read-live"]),
                (json!({"op": "subscribe", "from": "earliest"}), vec!["read-live", "read-past"]),
                (json!({"op": "subscribe", "last": 5}), vec!["read-live", "read-past"]),
                (
                    json!({"op": "subscribe", "from": "2020-01-01T00:00:00Z", "to": "2020-01-02T00:00:00Z"}),
                    vec!["read-past"],
                ),
            ];
            let verbs = COMMANDS.map(|(name, _)| format!("command:{name}"));
            for ((name, arguments), verb) in COMMANDS.iter().zip(&verbs) {
                let mut message = arguments();
                (message["op"], message["command"]) = (json!("command"), json!(name));
                messages.push((message, vec![verb.as_str()]));
            }
            for (mut message, needed) in messages {
                (message["node"], message["instance"]) = (json!(node), json!(instance));
                let needed: Vec<_> = needed.iter().map(|verb| (std::slice::from_ref(verb), on)).collect();
                let mut wanted = person.answers(&needed);
                if wanted == Answer::Allowed && !exists {
                    wanted = Answer::Unknown;
                }
                id += 1;
                let answer = request(&mut socket, id, message.clone()).await;
                assert_eq!(answer_of(&answer), wanted, "{message} by {}: {answer}", person.name);
                combinations += 1;
            }
        }
    }
    println!("{combinations} combinations of messages, instances and principals");
    assert!(combinations >= 900, "{combinations}");
}

#[tokio::test]
async fn a_watching_client_learns_of_what_it_may_see() {
    let (world, address) = served().await;
    for person in PEOPLE.iter().filter(|person| person.reads(On::Something)) {
        let mut socket = connect(&world, address, person, "/ws", Some("oasis.v1")).await.unwrap();
        let watch = json!({"op": "watch", "id": 1, "deltas": true, "statistics": true});
        socket.send(Message::text(watch.to_string())).await.unwrap();
        let seen: BTreeSet<_> =
            INSTANCES.into_iter().filter(|(node, name)| person.reads(On::Instance(node, name))).collect();
        // They come in any order.
        let is_wanted = |message: &Value| message["op"] == "registry_delta" || message["op"] == "statistics";
        let (mut delta, mut statistics) = (Value::Null, Value::Null);
        while delta.is_null() || statistics.is_null() {
            let message = next(&mut socket, is_wanted).await;
            let is_statistics = message["op"] == "statistics";
            *(if is_statistics { &mut statistics } else { &mut delta }) = message;
        }
        let listed = delta["instances"].as_array().unwrap().iter();
        let names: BTreeSet<_> = listed
            .map(|entry| (entry["node"].as_str().unwrap(), entry["instance"].as_str().unwrap()))
            .collect();
        assert_eq!(names, seen, "{}", person.name);
        assert_eq!(statistics["instances"].as_array().unwrap().len(), seen.len(), "{}", person.name);

        let fleet = request(&mut socket, 3, json!({"op": "fleet"})).await;
        let live = |(node, name): &(&'static str, &'static str)| {
            person.permits("read-live", On::Instance(node, name))
        };
        let live: BTreeSet<_> = INSTANCES.into_iter().filter(live).collect();
        if live.is_empty() {
            assert_eq!(fleet["op"], "error", "{}: {fleet}", person.name);
        } else {
            let rows = next(&mut socket, |message| message["op"] == "fleet_rows").await;
            let members = rows["members"].as_array().unwrap().iter();
            let names: BTreeSet<_> =
                members.map(|member| (member[1].as_str().unwrap(), member[2].as_str().unwrap())).collect();
            assert_eq!(names, live, "{}", person.name);
        }

        let mut socket = connect(&world, address, person, "/ws", Some("oasis.v1")).await.unwrap();
        socket.send(Message::text(json!({"op": "watch", "id": 2}).to_string())).await.unwrap();
        let picture = next(&mut socket, |message| message["op"] == "registry" || message["id"] == 2).await;
        let is_whole = picture["op"] == "registry";
        assert_eq!(is_whole, person.reads(On::Everything), "{}: {picture}", person.name);
    }
}

#[tokio::test]
async fn a_stream_that_loses_its_rights_ends() {
    let (world, address) = served().await;
    let access = world.doors.permissions.access.clone();
    let mut socket = connect(&world, address, person_called("kiosk"), "/ws", Some("oasis.v1")).await.unwrap();
    for (id, instance) in [(1, "pump"), (2, "valve")] {
        let message = json!({"op": "subscribe", "node": "plant-7", "instance": instance});
        assert_eq!(request(&mut socket, id, message).await["op"], "subscribed");
    }
    let watch = json!({"op": "watch", "id": 3, "deltas": true});
    socket.send(Message::text(watch.to_string())).await.unwrap();
    let delta = next(&mut socket, |message| message["op"] == "registry_delta").await;
    assert_eq!(delta["instances"].as_array().unwrap().len(), 2);

    // The caller keeps one instance of two.
    access
        .change(|accounts| {
            accounts.set_role("kiosk".parse().unwrap(), vec!["read plant-7/pump".parse().unwrap()])
        })
        .unwrap();
    let ended = next(&mut socket, |message| message["op"] == "unsubscribed").await;
    assert_eq!(ended["cause"], "access_ended");
    let delta = next(&mut socket, |message| message["op"] == "registry_delta").await;
    assert_eq!((&delta["from"], delta["instances"].as_array().unwrap().len()), (&json!(0), 1));

    access.change(|accounts| accounts.revoke_token("kiosk")).unwrap();
    let closed = async {
        loop {
            if let Message::Close(frame) = socket.next().await.expect("a close frame").unwrap() {
                return frame.unwrap();
            }
        }
    };
    let frame = timeout(TEST_TIMEOUT, closed).await.expect("a close frame");
    assert_eq!(u16::from(frame.code), 4401, "{frame}");
}

#[tokio::test]
async fn a_text_stream_that_loses_its_rights_ends() {
    let world = World::new();
    let kiosk = person_called("kiosk");
    let uri = "/api/v1/samples/stream?node=plant-7&instance=pump";
    let response = world.request(kiosk, "GET", uri, "").await;
    assert_eq!(response.status(), 200);
    world.doors.permissions.access.change(|accounts| accounts.revoke_token("kiosk")).unwrap();
    let body = axum::body::to_bytes(response.into_body(), 1 << 20);
    let body = timeout(TEST_TIMEOUT, body).await.expect("it ends").unwrap();
    let last: Value = serde_json::from_slice(body.trim_ascii()).unwrap();
    assert_eq!((&last["event"], &last["cause"]), (&json!("end"), &json!("access_ended")), "{last}");
    assert!(world.doors.permissions.access.token("x", Moment::now()).is_err());
}
