//! The node's collector thread: calls the periodic probes, drains the rings, encodes batches, executes commands.

use crate::{
    bell::Bell, executed::Executed, instance::Instance, outbox::Outbox, overhead::OverheadWatch,
    spool::NewBatch, survive,
};
use oasis_channel::{Failure, NodeMessage, Outcome};
use oasis_wire::command::Command;
use std::{
    ops::ControlFlow,
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};
use uuid::Uuid;

/// Time for flushes that began before a shutdown: the last drain of the rings finds their samples.
const FLUSH_GRACE: Duration = Duration::from_millis(2);

/// A message from another thread to the collector.
#[derive(Debug)]
pub enum Order {
    /// A command from the DAC.
    Command {
        /// Its id.
        id: u64,
        /// Under which it is executed at most once.
        uuid: Option<Uuid>,
        /// Instance name.
        instance: String,
        /// Command to execute.
        command: Command,
    },
    /// The bell was rung: a ring has samples that should not wait.
    Look,
    /// An instance was added. The outbox has its place.
    Add(Box<Instance>),
    /// The node has connected to another DAC, or to a DAC that has restarted.
    NewDac,
    /// The node is shutting down.
    Stop,
}

/// The thread's state.
struct Collector<'a> {
    instances: Vec<Instance>,
    batches: Vec<NewBatch>,
    executed: Executed,
    watch: OverheadWatch,
    orders: &'a Receiver<Order>,
    bell: &'a Bell,
    outbox: &'a Outbox,
}

/// Runs until shutdown; by then all samples are in the outbox.
pub fn run(
    instances: Vec<Instance>,
    overhead_budget: Option<f64>,
    orders: &Receiver<Order>,
    bell: &Bell,
    outbox: &Arc<Outbox>,
) {
    let watch = OverheadWatch::new(overhead_budget, outbox.cpu.clone(), instances.len(), Instant::now());
    let (batches, executed) = Default::default();
    let mut collector = Collector { instances, batches, executed, watch, orders, bell, outbox };
    while survive::turn("collect samples", || collector.turn()) != Some(ControlFlow::Break(())) {}
    survive::turn("collect the last samples", || collector.finish());
}

impl Collector<'_> {
    /// Takes the samples that are due, then waits for an order or the next sample. Breaks on shutdown.
    fn turn(&mut self) -> ControlFlow<()> {
        let now = Instant::now();
        for instance in &mut self.instances {
            instance.collect(now, &mut self.batches);
            instance.flush_if_due(now, &mut self.batches);
        }
        if !self.batches.is_empty() {
            self.deliver();
        }
        if let Some(overhead) = self.watch.measure(now, &mut self.instances) {
            self.outbox.with(|held| held.overhead = Some(overhead));
        }
        let wakes = self.instances.iter().filter_map(|instance| instance.wake_at(now));
        let due = self.watch.due();
        let wake = wakes.min().map_or(due, |wake| wake.min(due));
        match self.orders.recv_timeout(wake.saturating_duration_since(Instant::now())) {
            Err(RecvTimeoutError::Timeout) => {}
            Ok(Order::Command { id, uuid, instance, command }) => {
                let outcome = self.execute(uuid, &instance, command);
                self.deliver();
                self.outbox.push(NodeMessage::Result { id, outcome });
            }
            Ok(Order::Add(instance)) => {
                self.instances.push(*instance);
                self.watch.grow(self.instances.len());
            }
            Ok(Order::Look) => self.bell.answer(),
            Ok(Order::NewDac) => self.instances.iter().for_each(Instance::renew),
            Ok(Order::Stop) | Err(RecvTimeoutError::Disconnected) => return ControlFlow::Break(()),
        }
        ControlFlow::Continue(())
    }

    /// Executes a command, unless it was executed before.
    fn execute(&mut self, uuid: Option<Uuid>, name: &str, command: Command) -> Outcome {
        let Some(instance) = self.instances.iter_mut().find(|instance| instance.name == name) else {
            return Outcome::Failed(Failure::new(
                "unknown_instance",
                format!("this node has no instance {name:?}"),
            ));
        };
        if let Some(outcome) = uuid.and_then(|uuid| self.executed.outcome(uuid, instance.index, &command)) {
            tracing::info!(instance = name, %command, "command repeated: not executed again");
            return outcome;
        }
        tracing::info!(instance = name, %command, "command");
        match instance.command(&command, Instant::now(), &mut self.batches) {
            Ok(state) => {
                if let Some(uuid) = uuid {
                    self.executed.remember(uuid, instance.index, command, state);
                }
                Outcome::Done(state)
            }
            Err(failure) => Outcome::Failed(failure),
        }
    }

    fn finish(&mut self) {
        self.instances.iter().for_each(Instance::end);
        thread::sleep(FLUSH_GRACE);
        self.instances.iter_mut().for_each(|instance| instance.finish(&mut self.batches));
        self.deliver();
    }

    fn deliver(&mut self) {
        self.outbox.with(|held| {
            for instance in &self.instances {
                held.progress[instance.index] = instance.progress();
            }
            self.batches.drain(..).for_each(|batch| held.spool.push(batch));
        });
    }
}
