//! Brings the rates of probes to what their readers ask for: one task for each instance whose rate is not there yet.

use crate::{
    CommandError, Dac, Instance,
    demand::{Demand, Step},
    now,
};
use oasis_channel::Command;
use oasis_wire::quantity::{Hertz, TopicId};
use std::{
    sync::{Arc, Weak},
    time::Duration,
};
use tokio::{
    runtime::Handle,
    sync::mpsc,
    time::{Instant, timeout, timeout_at},
};

/// In the journal of commands, in place of an address.
const WHO: &str = "demand";
/// How long a node that is too busy, or did not answer, is left alone.
const RETRY: Duration = Duration::from_secs(1);

/// Starts a task for each topic that comes, as long as the DAC lives. Without a runtime there is nobody to steer.
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

/// Ends when the rate is what it should be, or nobody can say what that is.
async fn steer(dac: Weak<Dac>, instance: Arc<Instance>) {
    let demand: &Demand = &instance.demand;
    loop {
        let step = {
            let Some(dac) = dac.upgrade() else { return };
            // What is asked for has changed, which tools see.
            dac.registry.touch();
            if instance.retired() {
                return;
            }
            demand.step(instance.state().hertz, Instant::now())
        };
        match step {
            Step::Rest => return,
            // Either will do: the next step looks at both.
            Step::Wait(until) => drop(timeout_at(until, demand.changed()).await),
            Step::Set(hertz) => set(&dac, &instance, hertz).await,
        }
    }
}

/// Asks the node for a rate. When this returns it is time for another look.
async fn set(dac: &Weak<Dac>, instance: &Arc<Instance>, hertz: Hertz) {
    let outcome = {
        let Some(dac) = dac.upgrade() else { return };
        if dac.registry.link(&instance.node).is_some() {
            let target = (&*instance.node, &*instance.name);
            dac.commands.send(&dac.registry, target, Command::Hertz { hertz }, WHO, now()).await
        } else {
            Err(CommandError::NodeOffline(instance.node.as_ref().into()))
        }
    };
    match outcome {
        Ok(state) if state.hertz == Some(hertz) => {}
        Err(CommandError::Busy(_) | CommandError::Timeout(_)) => {
            drop(timeout(RETRY, instance.demand.changed()).await);
        }
        // A node that is away tells when it is back, and asking again what was refused is of no use before something changes.
        Ok(_)
        | Err(
            CommandError::NodeOffline(_) | CommandError::Refused(_) | CommandError::UnknownInstance { .. },
        ) => instance.demand.changed().await,
    }
}
