//! The end of a DAC in order: nodes are asked to leave, so that they can go to another DAC without sending anything twice.

use std::sync::Arc;
use tokio::sync::watch;

/// Which nodes can be asked to leave, and whether they are.
#[derive(Debug, Default)]
pub struct Draining {
    requested: watch::Sender<bool>,
    /// Connected nodes that understand the request.
    present: watch::Sender<usize>,
}

impl Draining {
    /// Counts a node that understands the request, until the guard is dropped. `None` if no node may come any more.
    pub(crate) fn enter(self: &Arc<Self>) -> Option<Presence> {
        // Count first: a task that requests the end reads the count afterwards.
        self.present.send_modify(|present| *present += 1);
        let presence = Presence(self.clone());
        (!self.is_requested()).then_some(presence)
    }

    /// Returns whether the nodes are asked to leave.
    pub fn is_requested(&self) -> bool {
        *self.requested.borrow()
    }

    /// Completes once the nodes are asked to leave.
    pub(crate) async fn requested(&self) {
        // Fails only if the sender is gone, but `self` owns it.
        let _ = self.requested.subscribe().wait_for(|&requested| requested).await;
    }

    /// Asks all nodes to leave, and refuses new ones. Completes once each node that understands it has left. Until then
    /// samples are received and acknowledged as before.
    pub async fn run(&self) {
        self.requested.send_replace(true);
        let _ = self.present.subscribe().wait_for(|&present| present == 0).await;
    }
}

/// A connected node that understands the request.
#[derive(Debug)]
pub(crate) struct Presence(Arc<Draining>);

impl Drop for Presence {
    fn drop(&mut self) {
        self.0.present.send_modify(|present| *present -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{future::Future, pin::pin, task::Context};

    #[tokio::test]
    async fn it_is_over_when_the_last_node_has_left_and_no_other_comes() {
        let draining = Arc::new(Draining::default());
        let (first, second) = (draining.enter().unwrap(), draining.enter().unwrap());
        let mut over = pin!(draining.run());
        let mut is_over =
            || over.as_mut().poll(&mut Context::from_waker(std::task::Waker::noop())).is_ready();
        assert!(!is_over());
        assert!(draining.enter().is_none());
        drop(first);
        assert!(!is_over());
        drop(second);
        assert!(is_over());
        draining.requested().await;
    }
}
