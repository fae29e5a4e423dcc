//! The DAC's end: accepts connections through NATS, and hands each to the data channel as a stream.

use super::{
    dac_subject,
    subjects::{Subjects, WINDOW, subjects},
};
use crate::{Connection, NatsError, Target};
use futures_util::{StreamExt, stream::select};
use oasis_channel::carried::{Accept, pair, pump};
use std::{sync::Arc, time::Duration};
use uuid::Uuid;

/// Members of this group share the nodes that take any DAC.
const GROUP: &str = "oasis";
/// Pause before NATS is tried again.
const RETRY: Duration = Duration::from_secs(1);

/// Accepts nodes through NATS for ever; a server that is away is tried again.
pub async fn serve(target: Target, name: String, channel: Arc<dyn Accept>) {
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

async fn accept(target: &Target, name: &str, channel: &Arc<dyn Accept>) -> Result<(), NatsError> {
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

async fn begin(connection: &Connection, payload: &[u8], channel: &Arc<dyn Accept>) -> Result<(), String> {
    let id = Uuid::from_slice(payload).map_err(|_| "a request for a connection has 16 bytes".to_owned())?;
    let (up, down) = subjects(id);
    let client = connection.client.clone();
    let from = client.subscribe(up).await.map_err(|error| error.to_string())?;
    // The server must know the subscription before the node sends.
    client.flush().await.map_err(|error| error.to_string())?;
    let (near, far) = pair().await.map_err(|error| error.to_string())?;
    channel.take(far)?;
    tokio::spawn(async move {
        let mut subjects = Subjects { client, from, to: down };
        if let Err(error) = pump(near, &mut subjects, WINDOW).await {
            tracing::warn!(%error, "a data channel over NATS has ended");
        }
        let _ = subjects.from.unsubscribe().await;
    });
    Ok(())
}
