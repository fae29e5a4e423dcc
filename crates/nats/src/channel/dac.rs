//! The DAC's end: accepts connections through NATS, and hands each to the data channel as a stream.

use super::{dac_subject, pump::pump, subjects};
use crate::{Connection, NatsError, Target};
use futures_util::{StreamExt, stream::select};
use std::{io, sync::Arc, time::Duration};
use tokio::net::{TcpListener, TcpStream};
use uuid::Uuid;

/// Members of this group share the nodes that take any DAC.
const GROUP: &str = "oasis";
/// Pause before NATS is tried again.
const RETRY: Duration = Duration::from_secs(1);

/// The data channel, as NATS needs it.
pub trait Channel: Send + Sync + 'static {
    /// Takes a connection, and serves it until it ends. Returns why if there is no room.
    ///
    /// # Errors
    /// If the DAC accepts no more nodes.
    fn take(&self, stream: TcpStream) -> Result<(), String>;
}

/// Accepts nodes through NATS for ever; a server that is away is tried again.
pub async fn serve(target: Target, name: String, channel: Arc<dyn Channel>) {
    let mut was_failing = false;
    loop {
        if let Err(error) = accept(&target, &name, &channel).await
            && !std::mem::replace(&mut was_failing, true)
        {
            tracing::error!(%error, "no nodes through NATS: retrying");
        }
        tokio::time::sleep(RETRY).await;
    }
}

async fn accept(target: &Target, name: &str, channel: &Arc<dyn Channel>) -> Result<(), NatsError> {
    let failed = |error: &dyn std::fmt::Display| NatsError::at("cannot subscribe", error);
    let connection = Connection::open(target, "oasis-dac-channel").await?;
    let client = &connection.client;
    let own = client.subscribe(dac_subject(Some(name))).await.map_err(|error| failed(&error))?;
    let any =
        client.queue_subscribe(dac_subject(None), GROUP.into()).await.map_err(|error| failed(&error))?;
    client.flush().await.map_err(|error| failed(&error))?;
    tracing::info!(dac = name, "nodes may connect through NATS");
    let mut requests = select(own, any);
    while let Some(request) = requests.next().await {
        let Some(answer_to) = request.reply else { continue };
        let answer = match begin(&connection, &request.payload, channel).await {
            Ok(()) => "ok".to_owned(),
            Err(why) => why,
        };
        // A node that has gone meanwhile needs no answer.
        let _ = client.publish(answer_to, answer.into()).await;
    }
    Err(NatsError("the subscription has ended".into()))
}

async fn begin(connection: &Connection, payload: &[u8], channel: &Arc<dyn Channel>) -> Result<(), String> {
    let id = Uuid::from_slice(payload).map_err(|_| "a request for a connection has 16 bytes".to_owned())?;
    let (up, down) = subjects(id);
    let client = connection.client.clone();
    let mut from = client.subscribe(up).await.map_err(|error| error.to_string())?;
    // The server must know the subscription before the node sends.
    client.flush().await.map_err(|error| error.to_string())?;
    let (near, far) = pair().await.map_err(|error| error.to_string())?;
    channel.take(far)?;
    tokio::spawn(async move {
        if let Err(error) = pump(near, &client, &mut from, &down).await {
            tracing::warn!(%error, "a data channel over NATS has ended");
        }
        let _ = from.unsubscribe().await;
    });
    Ok(())
}

/// Two ends of a connection within this process.
async fn pair() -> io::Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let near = TcpStream::connect(listener.local_addr()?).await?;
    loop {
        // Another process may find the port.
        let (far, peer) = listener.accept().await?;
        if peer == near.local_addr()? {
            near.set_nodelay(true)?;
            far.set_nodelay(true)?;
            return Ok((near, far));
        }
    }
}
