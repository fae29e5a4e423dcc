//! Orders of other threads to the collector.

use crate::{bell::Bell, instance::Instance};
use oasis_wire::command::Command;
use std::sync::mpsc;
use uuid::Uuid;

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
    /// An instance was added. The outbox has its place.
    Add(Box<Instance>),
    /// The node has connected to another DAC, or to a DAC that has restarted.
    NewDac,
    /// The node is shutting down.
    Stop,
}

/// Sends orders, and rings the bell of the collector after each.
#[derive(Debug, Clone)]
pub struct OrderSender {
    orders: mpsc::Sender<Order>,
    bell: Bell,
}

impl OrderSender {
    /// Creates a queue of orders to the thread that waits with this bell.
    pub fn new(bell: Bell) -> (Self, mpsc::Receiver<Order>) {
        let (orders, inbox) = mpsc::channel();
        (Self { orders, bell }, inbox)
    }

    /// Sends an order. A collector that has ended, and so the node, takes none.
    pub fn send(&self, order: Order) {
        if self.orders.send(order).is_ok() {
            self.bell.ring();
        }
    }
}
