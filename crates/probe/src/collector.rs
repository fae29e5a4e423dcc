//! The node's collector thread: calls the periodic probes, drains the rings, encodes batches, executes commands.

use crate::{
    bell::Bell, executed::Executed, idle::IdleWatch, instance::Instance, orders::Order, outbox::Outbox,
    overhead::OverheadWatch, spool::NewBatch, survive,
};
use oasis_channel::{Failure, NodeMessage, Outcome};
use oasis_wire::command::Command;
use std::{
    ops::ControlFlow,
    sync::{
        Arc,
        mpsc::{Receiver, TryRecvError},
    },
    thread,
    time::{Duration, Instant},
};
use uuid::Uuid;

/// Time for flushes that began before a shutdown: the last drain of the rings finds their samples.
const FLUSH_GRACE: Duration = Duration::from_millis(2);

/// The thread's state.
struct Collector<'a> {
    instances: Vec<Instance>,
    batches: Vec<NewBatch>,
    executed: Executed,
    watch: OverheadWatch,
    idle: IdleWatch,
    orders: &'a Receiver<Order>,
    bell: &'a Bell,
    outbox: &'a Outbox,
}

/// Runs until shutdown; by then all samples are in the outbox.
pub fn run(
    instances: Vec<Instance>,
    (overhead_budget, may_sleep): (Option<f64>, bool),
    orders: &Receiver<Order>,
    bell: &Bell,
    outbox: &Arc<Outbox>,
) {
    bell.connect();
    let now = Instant::now();
    let watch = OverheadWatch::new(overhead_budget, outbox.cpu.clone(), instances.len(), now);
    let idle = IdleWatch::new(now, may_sleep);
    let (batches, executed) = Default::default();
    let mut collector = Collector { instances, batches, executed, watch, idle, orders, bell, outbox };
    while survive::turn("collect samples", || collector.turn()) != Some(ControlFlow::Break(())) {}
    survive::turn("collect the last samples", || collector.finish());
}

impl Collector<'_> {
    /// Takes the samples that are due, then waits for an order or the next sample. Breaks on shutdown.
    fn turn(&mut self) -> ControlFlow<()> {
        let now = Instant::now();
        let mut has_samples = false;
        for instance in &mut self.instances {
            has_samples |= instance.collect(now, &mut self.batches);
            instance.flush_if_due(now, &mut self.batches);
        }
        if !self.batches.is_empty() {
            self.deliver();
        }
        if let Some(overhead) = self.watch.measure(now, &mut self.instances) {
            self.outbox.with(|held| held.overhead = Some(overhead));
        }
        let polled = self.instances.iter().filter_map(Instance::poll_interval).min();
        let poll = polled.map(|interval| self.idle.next_poll(now, has_samples, interval, self.bell));
        let wakes = self.instances.iter().filter_map(Instance::wake_at);
        let wake = wakes.chain(poll).fold(self.watch.due(), Instant::min);
        match self.orders.try_recv() {
            Err(TryRecvError::Empty) => self.bell.wait_until(wake),
            Ok(Order::Command { id, uuid, instance, command }) => {
                let outcome = self.execute(uuid, &instance, command);
                self.deliver();
                self.outbox.push(NodeMessage::Result { id, outcome });
            }
            Ok(Order::Add(instance)) => {
                self.instances.push(*instance);
                self.watch.grow(self.instances.len());
            }
            Ok(Order::NewDac) => self.instances.iter().for_each(Instance::renew),
            Ok(Order::Stop) | Err(TryRecvError::Disconnected) => return ControlFlow::Break(()),
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
