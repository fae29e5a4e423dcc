//! The node's collector thread: calls the periodic probes, drains the rings, encodes batches, executes commands.

use crate::{instance::Instance, outbox::Outbox, overhead::OverheadWatch, spool::NewBatch};
use oasis_channel::{Command, Failure, NodeMessage, Outcome};
use std::{
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError},
    },
    time::Instant,
};

/// A message from another thread to the collector.
#[derive(Debug)]
pub enum Order {
    /// A command from the DAC.
    Command {
        /// Its id.
        id: u64,
        /// Instance name.
        instance: String,
        /// What to do.
        command: Command,
    },
    /// The node has connected to another DAC, or to a DAC that has restarted.
    NewDac,
    /// The node is shutting down.
    Stop,
}

/// Runs until shutdown; by then all samples are in the outbox.
pub fn run(
    mut instances: Vec<Instance>,
    overhead_budget: Option<f64>,
    orders: &Receiver<Order>,
    outbox: &Arc<Outbox>,
) {
    let mut batches = Vec::new();
    let mut watch = OverheadWatch::new(overhead_budget, outbox.cpu.clone(), instances.len(), Instant::now());
    loop {
        let now = Instant::now();
        for instance in &mut instances {
            instance.collect(now, &mut batches);
            instance.flush_if_due(now, &mut batches);
        }
        if !batches.is_empty() {
            deliver(&instances, &mut batches, outbox);
        }
        if let Some(overhead) = watch.look(now, &mut instances) {
            outbox.with(|held| held.overhead = Some(overhead));
        }
        let wakes = instances.iter().filter_map(|instance| instance.wake_at(now));
        let wake = wakes.min().map_or(watch.due(), |wake| wake.min(watch.due()));
        match orders.recv_timeout(wake.saturating_duration_since(Instant::now())) {
            Err(RecvTimeoutError::Timeout) => {}
            Ok(Order::Command { id, instance, command }) => {
                let outcome = obey(&mut instances, &instance, &command, &mut batches);
                deliver(&instances, &mut batches, outbox);
                outbox.say(NodeMessage::Result { id, outcome });
            }
            Ok(Order::NewDac) => instances.iter().for_each(Instance::renew),
            Ok(Order::Stop) | Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    instances.iter_mut().for_each(|instance| instance.finish(&mut batches));
    deliver(&instances, &mut batches, outbox);
}

fn obey(instances: &mut [Instance], name: &str, command: &Command, batches: &mut Vec<NewBatch>) -> Outcome {
    let Some(instance) = instances.iter_mut().find(|instance| instance.name == name) else {
        return Outcome::Failed(Failure::new(
            "unknown_instance",
            format!("this node has no instance {name:?}"),
        ));
    };
    tracing::info!(instance = name, %command, "command");
    match instance.command(command, Instant::now(), batches) {
        Ok(state) => Outcome::Done(state),
        Err(failure) => Outcome::Failed(failure),
    }
}

fn deliver(instances: &[Instance], batches: &mut Vec<NewBatch>, outbox: &Outbox) {
    outbox.with(|held| {
        for instance in instances {
            held.progress[instance.index] = instance.progress();
        }
        batches.drain(..).for_each(|batch| held.spool.push(batch));
    });
}
