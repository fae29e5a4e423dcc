//! axum as its examples use it: a task for each connection, fed by a broadcast, one `send` for each message.

use super::{Packets, runtime};
use crate::order::{Order, obey, ready};
use ::axum::{
    Router,
    body::Bytes,
    extract::{
        State, WebSocketUpgrade,
        ws::{Message, WebSocket},
    },
    response::Response,
    routing::get,
};
use anyhow::bail;
use tokio::{net::TcpListener, sync::broadcast};

/// Rounds that a connection may lag; the lab never has so many in flight.
const CAPACITY: usize = 256;

/// A round: all its messages at once, so that a task is woken once for them.
type Round = Vec<Bytes>;

pub fn serve() -> anyhow::Result<()> {
    let runtime = runtime()?;
    let rounds = broadcast::Sender::<Round>::new(CAPACITY);
    let router = Router::new().route("/ws", get(upgrade)).with_state(rounds.clone());
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
    ready(&[listener.local_addr()?.to_string()])?;
    runtime.spawn(async move { ::axum::serve(listener, router).await });
    let mut packets = Packets::default();
    obey(|order| {
        let Order::Round { burst } = order else { bail!("this server publishes rounds only") };
        // Fails without subscribers.
        let _ = rounds.send(packets.burst(burst).map(Bytes::from).collect());
        Ok(())
    })
}

async fn upgrade(rounds: State<broadcast::Sender<Round>>, upgrade: WebSocketUpgrade) -> Response {
    upgrade.on_upgrade(move |socket| push(socket, rounds.subscribe()))
}

async fn push(mut socket: WebSocket, mut rounds: broadcast::Receiver<Round>) {
    while let Ok(round) = rounds.recv().await {
        for message in round {
            if socket.send(Message::Binary(message)).await.is_err() {
                return;
            }
        }
    }
}
