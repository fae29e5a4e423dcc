//! A connection to an upstream that carries samples.

use super::way::understood;
use crate::client::{Client, Incoming};
use anyhow::{Context, anyhow};
use oasis_dac::{Instance, UpstreamDemand};
use oasis_relay::Feed;
use oasis_wire::quantity::TopicId;
use serde_json::Value;
use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};
use tokio::{sync::mpsc, task::JoinHandle};

/// Orders that may wait for a line.
const ORDER_CAPACITY: usize = 1_024;

/// A command to a line.
#[derive(Debug)]
pub enum LineOrder {
    /// Subscribe to an instance.
    Subscribe(Arc<Instance>, UpstreamDemand),
    /// Ask for another rate.
    Rate(TopicId, UpstreamDemand),
    /// No reader is left.
    Unsubscribe(TopicId),
    /// Its node has moved to another upstream.
    Abandon(TopicId),
}

/// An event of a line.
#[derive(Debug)]
pub enum LineEvent {
    /// The upstream has ended a subscription, or refused it.
    Ended(TopicId),
    /// The connection has ended.
    Closed(anyhow::Error),
}

/// A line. Dropping it closes the connection.
#[derive(Debug)]
pub struct Line {
    orders: mpsc::Sender<LineOrder>,
    task: JoinHandle<()>,
}

impl Line {
    /// Starts to read a connection.
    pub fn start(
        client: Client,
        feed: Feed,
        clock_offset: Arc<AtomicI64>,
        events: mpsc::Sender<LineEvent>,
    ) -> Self {
        let (orders, to_orders) = mpsc::channel(ORDER_CAPACITY);
        let mut reading = Reading { client, feed, clock_offset, orders: to_orders, events };
        let task = tokio::spawn(async move {
            if let Err(error) = reading.run().await {
                // No receiver is left once the conversation with the upstream is over.
                let _ = reading.events.send(LineEvent::Closed(error)).await;
            }
        });
        Self { orders, task }
    }

    /// Gives an order. Never waits: the line may wait for who gives it.
    ///
    /// # Errors
    /// If the line has ended, or too many orders wait: the conversation with the upstream must begin again.
    pub fn order(&self, order: LineOrder) -> anyhow::Result<()> {
        self.orders.try_send(order).map_err(|_| anyhow!("a connection of it has ended, or does not keep up"))
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct Reading {
    client: Client,
    feed: Feed,
    clock_offset: Arc<AtomicI64>,
    orders: mpsc::Receiver<LineOrder>,
    events: mpsc::Sender<LineEvent>,
}

impl Reading {
    async fn run(&mut self) -> anyhow::Result<()> {
        loop {
            tokio::select! {
                incoming = self.client.next() => match incoming?.context("the upstream closed a connection")? {
                    Incoming::Batch(bytes) => self.feed.batch(bytes, self.clock_offset.load(Ordering::Relaxed))?,
                    Incoming::Control(message) => self.message(message).await?,
                },
                order = self.orders.recv() => match order {
                    None => return Ok(()),
                    Some(order) => self.carry_out(order).await?,
                },
            }
        }
    }

    async fn carry_out(&mut self, order: LineOrder) -> anyhow::Result<()> {
        let request = match order {
            LineOrder::Subscribe(instance, wanted) => Some(self.feed.subscribe(instance, wanted)),
            LineOrder::Rate(topic, wanted) => self.feed.rate(topic, wanted),
            LineOrder::Unsubscribe(topic) => self.feed.unsubscribe(topic),
            LineOrder::Abandon(topic) => self.feed.abandon(topic),
        };
        match request {
            Some(request) => self.client.send(&request).await,
            None => Ok(()),
        }
    }

    async fn message(&mut self, message: Value) -> anyhow::Result<()> {
        let (request, ended) = self.feed.take(understood(message)?);
        if let Some(request) = request {
            self.client.send(&request).await?;
        }
        if let Some(topic) = ended {
            let _ = self.events.send(LineEvent::Ended(topic)).await;
        }
        Ok(())
    }
}
