//! Sends kept settings to nodes that have registered: one task for each node, as commands on the usual way.

use super::{KeptSetting, SettingValue};
use crate::{Author, CommandError, Dac, NamedRequest, now};
use oasis_channel::Failure;
use oasis_wire::command::{Command, SettingName};
use std::{
    sync::{Arc, Weak},
    time::Duration,
};
use tokio::{runtime::Handle, sync::mpsc};
use uuid::Uuid;

/// Attempts at a busy node, or one that does not answer. It gets the rest when it connects again.
const MAX_ATTEMPTS: u32 = 3;
/// Pause between two of them.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// Starts a task for each node received, as long as the DAC lives. Does nothing outside of a tokio runtime.
pub(crate) fn start(dac: &Arc<Dac>, mut nodes: mpsc::UnboundedReceiver<Arc<str>>) {
    let Ok(runtime) = Handle::try_current() else { return };
    let dac = Arc::downgrade(dac);
    runtime.spawn(async move {
        while let Some(node) = nodes.recv().await {
            tokio::spawn(apply(dac.clone(), node));
        }
    });
}

/// A setting that the present run of a node lacks.
struct Lacking {
    instance: String,
    name: SettingName,
    kept: KeptSetting,
    run: Uuid,
}

/// Returns once the node has all settings of the instances that it has registered, or has refused them.
async fn apply(dac: Weak<Dac>, node: Arc<str>) {
    loop {
        let Some(dac) = dac.upgrade() else { return };
        let mut results = Vec::new();
        for Lacking { instance, name, kept, run } in lacking(&dac, &node) {
            let present = || dac.settings.kept((&node, &instance), &name);
            if present() != Some(kept.value) {
                continue;
            }
            let outcome = match send(&dac, (&node, &instance), &name, &kept).await {
                Ok(()) => Ok(run),
                Err(CommandError::Refused(failure)) => Err(failure),
                // The node is on its way elsewhere, or comes back: then it registers.
                Err(error) => {
                    tracing::debug!(node = %node, instance, setting = %name, %error, "a kept setting was not sent");
                    continue;
                }
            };
            if let Err(failure) = &outcome {
                tracing::warn!(node = %node, instance, setting = %name, error = %failure, "a node has refused a kept setting");
            }
            if outcome.is_ok() && present().is_none() {
                take_back(&dac, (&node, &instance), &name).await;
            }
            results.push((instance, name, kept.value, outcome));
        }
        note(&dac, &node, results).await;
        if !dac.settings.applies_again(&node) {
            return;
        }
    }
}

/// Returns the settings that were not sent to the present run of a node yet, of instances that it has registered.
fn lacking(dac: &Dac, node: &str) -> Vec<Lacking> {
    let Some(settings) = dac.settings.of_node(node) else { return Vec::new() };
    let mut found = Vec::new();
    for (instance, of) in &settings.instances {
        let Some(known) = dac.registry.find(node, instance).filter(|known| !known.is_relayed()) else {
            continue;
        };
        let present = dac.registry.node(node).map(|node| node.identity.run);
        let Some(run) = known.ledger().run().filter(|run| Some(*run) == present) else { continue };
        let new = of.kept.iter().filter(|(_, kept)| kept.applied != Some(run));
        found.extend(new.map(|(name, kept)| Lacking {
            instance: instance.clone(),
            name: name.clone(),
            kept: kept.clone(),
            run,
        }));
    }
    found
}

async fn send(
    dac: &Arc<Dac>,
    target: (&str, &str),
    name: &SettingName,
    kept: &KeptSetting,
) -> Result<(), CommandError> {
    let who = format!("kept by {}", kept.by);
    let mut attempt = 1;
    loop {
        let request = NamedRequest::from(kept.value.command(name));
        match dac.commands.execute(&dac.registry, target, request, Author::from(&*who), now()).await {
            Err(CommandError::Busy(_) | CommandError::Timeout(_)) if attempt < MAX_ATTEMPTS => {
                attempt += 1;
                tokio::time::sleep(RETRY_DELAY).await;
            }
            outcome => return outcome.map(drop),
        }
    }
}

/// Returns to the declaration of the program: the setting was reset while it was sent.
async fn take_back(dac: &Arc<Dac>, target: (&str, &str), name: &SettingName) {
    let reset = Command::Reset { setting: Some(name.clone()) };
    if let Err(error) = dac.commands.execute(&dac.registry, target, reset, "reset", now()).await {
        tracing::warn!(node = target.0, instance = target.1, setting = %name, %error, "a setting was not taken back");
    }
}

/// Notes the results, and shows them.
async fn note(
    dac: &Arc<Dac>,
    node: &Arc<str>,
    results: Vec<(String, SettingName, SettingValue, Result<Uuid, Failure>)>,
) {
    if results.is_empty() {
        return;
    }
    let (of, name) = (dac.clone(), node.clone());
    let noted = tokio::task::spawn_blocking(move || {
        let noted = of.settings.note_applied(&name, &results);
        results.iter().for_each(|(instance, ..)| {
            if let Some(instance) = of.registry.find(&name, instance) {
                of.registry.instance_changed(&instance);
            }
        });
        noted
    });
    if let Ok(Err(error)) = noted.await {
        tracing::warn!(node = %node, %error, "which settings a node has is not noted");
    }
}
