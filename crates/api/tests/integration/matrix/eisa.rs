//! The commands of the protocol of 2012. It has no answers, so what was refused is seen at its counter.

use super::{
    people::{Answer, On, PEOPLE},
    websocket::{Socket, TEST_TIMEOUT, connect, served},
    world::{INSTANCES, NAMES, World},
};
use futures_util::{SinkExt, StreamExt};
use oasis_wire::eisa::ClientCommand;
use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;

/// Visible result of a command that is carried out as far as possible: there is no node.
const OFFLINE: &str = "node_offline";
/// An instance that everybody here may read.
const SEEN: (&str, &str) = ("plant-7", "pump");

/// The commands, each with its verb.
fn commands(node: &str, instance: &str) -> [(ClientCommand, &'static str); 3] {
    let (node, instance) = (node.to_owned(), instance.to_owned());
    [
        (ClientCommand::Register { node: node.clone(), instance: instance.clone() }, "read-live"),
        (ClientCommand::Schema { node: node.clone(), instance: instance.clone() }, "read-live"),
        (ClientCommand::Hertz { node, instance, hertz: "5".into() }, "command:hertz"),
    ]
}

async fn send(socket: &mut Socket, command: &ClientCommand) {
    socket.send(Message::binary(command.encode().unwrap().to_vec())).await.unwrap();
}

/// Receives `count` schemas.
async fn schemas(socket: &mut Socket, count: usize) {
    for _ in 0..count {
        let message = timeout(TEST_TIMEOUT, socket.next()).await.expect("a schema").unwrap().unwrap();
        assert!(matches!(message, Message::Text(_)), "{message:?}");
    }
}

fn refused(world: &World) -> BTreeMap<String, u64> {
    world.doors.admission.counters().refused
}

/// The only counter that has grown.
fn grown(before: &BTreeMap<String, u64>, now: &BTreeMap<String, u64>) -> Option<String> {
    let mut grown =
        now.iter().filter(|(word, count)| before.get(*word).copied().unwrap_or_default() < **count);
    let first = grown.next().map(|(word, _)| word.clone());
    assert!(grown.next().is_none(), "{before:?}, then {now:?}");
    first
}

#[tokio::test]
async fn each_command_of_2012_asks_for_its_verb_on_its_instance() {
    let (world, address) = served().await;
    let mut combinations = 0;
    let may_speak = |name: &&super::people::Person| {
        name.answers(&[(&["eisa"], On::Something), (&["read-live"], On::Something)]) == Answer::Allowed
    };
    for person in PEOPLE.iter().filter(may_speak) {
        let mut socket = connect(&world, address, person, "/ws", None).await.unwrap();
        for (node, instance) in NAMES {
            for (command, verb) in commands(node, instance) {
                let answer = person.answer(&[verb], On::Instance(node, instance));
                let exists = INSTANCES.contains(&(node, instance));
                let is_command = verb != "read-live";
                let wanted = match answer {
                    Answer::Allowed if exists => is_command.then_some(OFFLINE),
                    Answer::Allowed | Answer::Unknown => Some("unknown_instance"),
                    Answer::Forbidden => Some("forbidden"),
                    other => panic!("{other:?}"),
                };
                let before = refused(&world);
                send(&mut socket, &command).await;
                // Its schema arrives after the command was read.
                send(&mut socket, &commands(SEEN.0, SEEN.1)[1].0).await;
                let is_schema = matches!(command, ClientCommand::Schema { .. });
                schemas(&mut socket, 1 + usize::from(is_schema && wanted.is_none())).await;
                let begin = Instant::now();
                let mut found = grown(&before, &refused(&world));
                // A command that changes something is carried out beside.
                while is_command && found.is_none() && begin.elapsed() < TEST_TIMEOUT {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                    found = grown(&before, &refused(&world));
                }
                assert_eq!(found.as_deref(), wanted, "{command:?} by {}", person.name);
                combinations += 1;
            }
        }
    }
    println!("{combinations} combinations of commands of 2012, instances and principals");
    assert!(combinations >= 45, "{combinations}");
}
