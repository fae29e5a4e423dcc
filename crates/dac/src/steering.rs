//! Sets the rates of probes to what their readers ask for: one task for each instance whose rate differs.

use crate::{
    CommandError, Dac, Instance,
    demand::{Demand, Step},
    now,
};
use oasis_wire::{
    command::Command,
    quantity::{Hertz, TopicId},
};
use std::{
    sync::{Arc, Weak},
    time::Duration,
};
use tokio::{
    runtime::Handle,
    sync::mpsc,
    time::{Instant, timeout, timeout_at},
};
use uuid::Uuid;

/// Sender of the command in the command journal: this word instead of an address.
const WHO: &str = "demand";
/// Pause before the next attempt after a busy node or a timeout.
const RETRY: Duration = Duration::from_secs(1);

/// Starts a task for each topic received, as long as the DAC lives. Does nothing outside of a tokio runtime.
pub fn start(dac: &Arc<Dac>, mut topics: mpsc::UnboundedReceiver<TopicId>) {
    let Ok(runtime) = Handle::try_current() else { return };
    let dac = Arc::downgrade(dac);
    runtime.spawn(async move {
        while let Some(topic) = topics.recv().await {
            let Some(known) = dac.upgrade() else { return };
            if let Some(instance) = known.registry.instance(topic) {
                tokio::spawn(steer(dac.clone(), instance));
            }
        }
    });
}

/// Returns once the rate is right, or unknown.
async fn steer(dac: Weak<Dac>, instance: Arc<Instance>) {
    let demand: &Demand = &instance.demand;
    loop {
        let step = {
            let Some(dac) = dac.upgrade() else { return };
            // Demand has changed, and tools show it.
            dac.registry.instance_changed(&instance);
            if instance.is_retired() {
                return;
            }
            demand.step(instance.state().hertz, Instant::now())
        };
        match step {
            Step::Rest => return,
            // Wakes for either reason: the next step checks both.
            Step::Wait(until) => drop(timeout_at(until, demand.changed()).await),
            Step::Set(hertz) => set(&dac, &instance, hertz).await,
        }
    }
}

/// Sends the node a rate. Returns when it is time for another step.
async fn set(dac: &Weak<Dac>, instance: &Arc<Instance>, hertz: Hertz) {
    let outcome = {
        let Some(dac) = dac.upgrade() else { return };
        if dac.registry.link(&instance.node).is_some() {
            let target = (&*instance.node, &*instance.name);
            dac.commands
                .send(&dac.registry, target, (Uuid::new_v4(), Command::Hertz { hertz }), WHO, now())
                .await
        } else {
            Err(CommandError::NodeOffline(instance.node.as_ref().into()))
        }
    };
    match outcome {
        Ok(state) if state.hertz == Some(hertz) => {}
        Err(CommandError::Busy(_) | CommandError::Timeout(_)) => {
            drop(timeout(RETRY, instance.demand.changed()).await);
        }
        // An offline node reports when it is back. Repeating a refused command is useless before something changes.
        Ok(_)
        | Err(
            CommandError::NodeOffline(_)
            | CommandError::NodeMoved(_)
            | CommandError::Unknown(_)
            | CommandError::Refused(_)
            | CommandError::NotKept(_)
            | CommandError::UnknownInstance { .. },
        ) => instance.demand.changed().await,
    }
}
