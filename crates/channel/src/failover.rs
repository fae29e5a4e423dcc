//! A connector to several DACs: it goes to the next one when an attempt fails or a connection is lost.

use crate::{Connector, Ended, Patience, Receiver, Sender, Turn, candidates::Candidates};
use std::{
    io,
    sync::{Arc, Mutex, PoisonError, mpsc},
    time::Instant,
};

/// Where new addresses come from, for example from a TEM. Nobody waits for them.
#[derive(Debug)]
pub struct DacUpdates {
    /// The newest list.
    pub newest: NewestList,
    /// Receives a message when an attempt failed, or the connection is lost: a new list would help.
    pub wanted: mpsc::SyncSender<()>,
}

/// The newest list of addresses in their order, until the node takes it.
#[derive(Debug, Clone, Default)]
pub struct NewestList(Arc<Mutex<Option<Vec<String>>>>);

impl NewestList {
    /// Replaces the list.
    pub fn set(&self, addresses: Vec<String>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(addresses);
    }

    fn take(&self) -> Option<Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Connects to one of several DACs, whose addresses are candidates.
pub struct Failover<F> {
    candidates: Candidates,
    /// Makes the connector to an address.
    connector_to: F,
    updates: Option<DacUpdates>,
    /// That of the present address.
    present: Box<dyn Connector>,
}

impl<F: FnMut(&str, Patience) -> Box<dyn Connector> + Send> Failover<F> {
    /// Creates a connector to the first of these addresses that works.
    pub fn new(addresses: Vec<String>, mut connector_to: F) -> Self {
        let candidates = Candidates::new(addresses);
        let present = connector_to(candidates.current(), patience(&candidates));
        Self { candidates, connector_to, updates: None, present }
    }

    /// Adds a source of new addresses.
    #[must_use]
    pub fn with_updates(self, updates: DacUpdates) -> Self {
        Self { updates: Some(updates), ..self }
    }

    fn take_updates(&mut self) {
        let Some(updates) = &self.updates else { return };
        if let Some(newest) = updates.newest.take() {
            self.candidates.replace(newest);
        }
    }
}

/// A node with another DAC to go to gives up sooner.
fn patience(candidates: &Candidates) -> Patience {
    if candidates.has_others() { Patience::SEVERAL_DACS } else { Patience::ONE_DAC }
}

impl<F: FnMut(&str, Patience) -> Box<dyn Connector> + Send> Connector for Failover<F> {
    fn connect(&mut self) -> io::Result<(Box<dyn Sender>, Box<dyn Receiver>)> {
        self.present.connect()
    }

    fn target(&self) -> String {
        self.present.target()
    }

    fn patience(&self) -> Patience {
        self.present.patience()
    }

    fn turn(&mut self, ended: &Ended) -> Turn {
        self.take_updates();
        if let Some(updates) = &self.updates {
            // Full means that it is wanted already; without a receiver the last list counts.
            let _ = updates.wanted.try_send(());
        }
        let turn = self.candidates.turn(*ended, Instant::now());
        self.present = (self.connector_to)(self.candidates.current(), patience(&self.candidates));
        turn
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::TcpConnector;

    fn failover(addresses: &[&str]) -> impl Connector {
        let addresses = addresses.iter().map(|&address| address.into()).collect();
        Failover::new(addresses, tcp)
    }

    fn tcp(address: &str, patience: Patience) -> Box<dyn Connector> {
        Box::new(TcpConnector::new(address).with_patience(patience))
    }

    #[test]
    fn a_node_waits_longer_for_its_only_dac() {
        assert_eq!(failover(&["127.0.0.1:1"]).patience(), Patience::ONE_DAC);
        let mut two = failover(&["127.0.0.1:1", "127.0.0.1:2"]);
        assert_eq!(two.patience(), Patience::SEVERAL_DACS);
        assert!(two.connect().is_err());
        assert_eq!((two.patience(), two.target()), (Patience::SEVERAL_DACS, "tcp://127.0.0.1:1".into()));
        assert_eq!(two.turn(&Ended::Failed), Turn::Next);
        assert!(two.connect().is_err());
        assert_eq!(two.target(), "tcp://127.0.0.1:2");
    }

    #[test]
    fn a_failure_asks_for_a_new_list_and_uses_the_newest_one() {
        let newest = NewestList::default();
        let (wanted, asked) = mpsc::sync_channel(1);
        let mut one = Failover::new(vec!["127.0.0.1:1".into()], tcp);
        one = one.with_updates(DacUpdates { newest: newest.clone(), wanted });
        assert_eq!(one.turn(&Ended::Failed), Turn::RoundOver);
        assert_eq!(one.turn(&Ended::Failed), Turn::RoundOver, "nobody waits for an answer");
        assert_eq!(asked.try_iter().count(), 1);
        for port in [2, 3] {
            newest.set(vec![format!("127.0.0.1:{port}")]);
        }
        assert_eq!(one.turn(&Ended::Failed), Turn::Next);
        assert_eq!(one.target(), "tcp://127.0.0.1:3");
        drop(asked);
        one.turn(&Ended::Failed);
        assert_eq!(one.target(), "tcp://127.0.0.1:1", "the last list goes on");
    }
}
