//! A connector to several DACs: it goes to the next one when an attempt fails or a connection is lost.

use crate::{Connector, Ended, Patience, Receiver, Sender, Turn, candidates::Candidates};
use std::{
    io,
    sync::{Arc, Condvar, Mutex, PoisonError, mpsc},
    time::{Duration, Instant},
};

/// Source of new addresses, for example a TEM. A node that knows a DAC does not wait for them.
#[derive(Debug)]
pub struct DacUpdates {
    /// The newest list.
    pub newest: NewestList,
    /// Receives a message when an attempt failed, or the connection is lost: a new list would help.
    pub wanted: mpsc::SyncSender<()>,
}

/// The newest list of addresses in their order, until the node takes it.
#[derive(Debug, Clone, Default)]
pub struct NewestList(Arc<(Mutex<News>, Condvar)>);

#[derive(Debug, Default)]
struct News {
    addresses: Option<Vec<String>>,
    /// Why there is no list.
    problem: Option<String>,
}

impl NewestList {
    /// Replaces the list.
    pub fn set(&self, addresses: Vec<String>) {
        self.change(|news| *news = News { addresses: Some(addresses), problem: None });
    }

    /// Says why there is no new list. The node keeps the one that it has.
    pub fn set_problem(&self, problem: String) {
        self.change(|news| news.problem = Some(problem));
    }

    fn change(&self, change: impl FnOnce(&mut News)) {
        let (news, changed) = &*self.0;
        change(&mut news.lock().unwrap_or_else(PoisonError::into_inner));
        changed.notify_all();
    }

    fn take(&self) -> Option<Vec<String>> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).addresses.take()
    }

    /// Waits for the first list, or for the reason why there is none. The reason stays: who waits again waits for nothing.
    fn wait(&self, timeout: Duration) -> Result<Vec<String>, String> {
        let (news, changed) = &*self.0;
        let news = news.lock().unwrap_or_else(PoisonError::into_inner);
        let is_silent = |news: &mut News| news.addresses.is_none() && news.problem.is_none();
        let waited = changed.wait_timeout_while(news, timeout, is_silent);
        let (mut news, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let silent = || "no TEM has answered yet".to_owned();
        news.addresses.take().ok_or_else(|| news.problem.clone().unwrap_or_else(silent))
    }
}

/// Starts what keeps the list of addresses new.
type StartUpdates = Box<dyn Fn() -> io::Result<DacUpdates> + Send>;

/// Connects to one of several DACs, whose addresses are candidates.
pub struct Failover<F> {
    candidates: Candidates,
    /// Makes the connector to an address.
    connector_to: F,
    updates: Option<DacUpdates>,
    start_updates: Option<StartUpdates>,
    /// That of the present address; none if no address is known.
    present: Option<Box<dyn Connector>>,
}

impl<F: FnMut(&str, Patience) -> Box<dyn Connector> + Send> Failover<F> {
    /// Creates a connector to the first of these addresses that works. Without addresses it needs updates.
    pub fn new(addresses: Vec<String>, connector_to: F) -> Self {
        let candidates = Candidates::new(addresses);
        let mut new = Self { candidates, connector_to, updates: None, start_updates: None, present: None };
        new.renew();
        new
    }

    /// Adds a source of new addresses.
    #[must_use]
    pub fn with_updates(self, updates: DacUpdates) -> Self {
        Self { updates: Some(updates), ..self }
    }

    /// Adds a source of new addresses that is started at the first attempt to connect.
    #[must_use]
    pub fn following(self, start: impl Fn() -> io::Result<DacUpdates> + Send + 'static) -> Self {
        Self { start_updates: Some(Box::new(start)), ..self }
    }

    fn renew(&mut self) {
        let address = self.candidates.current();
        let patience = patience(&self.candidates);
        self.present = (!address.is_empty()).then(|| (self.connector_to)(address, patience));
    }

    fn take_updates(&mut self) {
        if let Some(newest) = self.updates.as_ref().and_then(|updates| updates.newest.take()) {
            self.candidates.replace(newest);
        }
    }

    fn start_updates(&mut self) -> io::Result<()> {
        if let Some(start) = self.start_updates.as_ref().filter(|_| self.updates.is_none()) {
            self.updates = Some(start()?);
        }
        Ok(())
    }

    /// Waits for the first list of addresses.
    fn meet_candidates(&mut self) -> io::Result<()> {
        let nowhere = |why: String| io::Error::new(io::ErrorKind::NotFound, why);
        let updates = self.updates.as_ref().ok_or_else(|| nowhere("no DAC is named".into()))?;
        let first = updates.newest.wait(Patience::ONE_DAC.connect).map_err(nowhere)?;
        self.candidates.replace(first);
        self.renew();
        Ok(())
    }
}

/// A node with another DAC to go to gives up sooner.
fn patience(candidates: &Candidates) -> Patience {
    if candidates.has_others() { Patience::SEVERAL_DACS } else { Patience::ONE_DAC }
}

impl<F: FnMut(&str, Patience) -> Box<dyn Connector> + Send> Connector for Failover<F> {
    fn connect(&mut self) -> io::Result<(Box<dyn Sender>, Box<dyn Receiver>)> {
        self.start_updates()?;
        if self.present.is_none() {
            self.meet_candidates()?;
        }
        match &mut self.present {
            Some(present) => present.connect(),
            None => Err(io::Error::new(io::ErrorKind::NotFound, "no DAC is named")),
        }
    }

    fn target(&self) -> String {
        self.present.as_ref().map_or_else(|| "TEM".into(), |present| present.target())
    }

    fn patience(&self) -> Patience {
        self.present.as_ref().map_or(Patience::ONE_DAC, |present| present.patience())
    }

    fn turn(&mut self, ended: &Ended) -> Turn {
        self.take_updates();
        if let Some(updates) = &self.updates {
            // Full means that it is wanted already; without a receiver the last list counts.
            let _ = updates.wanted.try_send(());
        }
        let turn = self.candidates.turn(*ended, Instant::now());
        self.renew();
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
        assert_eq!(one.target(), "tcp://127.0.0.1:1", "it keeps the last list");
    }

    #[test]
    fn without_an_address_the_first_list_is_waited_for_and_its_absence_has_a_reason() {
        let newest = NewestList::default();
        let (wanted, asked) = mpsc::sync_channel(1);
        let wanted = Mutex::new(Some(wanted));
        let start = {
            let newest = newest.clone();
            move || {
                let wanted = wanted.lock().unwrap().take().ok_or(io::ErrorKind::OutOfMemory)?;
                Ok(DacUpdates { newest: newest.clone(), wanted })
            }
        };
        let mut node = Failover::new(Vec::new(), tcp).following(start);
        assert_eq!((node.target().as_str(), asked.try_iter().count()), ("TEM", 0));
        newest.set_problem("the TEM is away".into());
        let error = node.connect().err().unwrap();
        assert_eq!(
            (error.to_string().as_str(), Ended::of_attempt(&error)),
            ("the TEM is away", Ended::Failed)
        );
        assert_eq!((node.turn(&Ended::Failed), asked.try_iter().count()), (Turn::RoundOver, 1));
        newest.set(vec!["127.0.0.1:1".into(), "127.0.0.1:2".into()]);
        assert!(node.connect().is_err(), "nobody listens there");
        assert_eq!((node.target().as_str(), node.patience()), ("tcp://127.0.0.1:1", Patience::SEVERAL_DACS));
        newest.set_problem("the TEM is away again".into());
        assert_eq!(node.turn(&Ended::Failed), Turn::Next);
        assert_eq!(node.target(), "tcp://127.0.0.1:2", "it keeps the last list");
    }
}
