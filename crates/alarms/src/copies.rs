//! Copies of the alarms and states of other DACs: they are renewed as long as these answer, for the time when they do
//! not.

use crate::{Handover, HandoverPage, NodeConnection};
use serde::Serialize;
use std::{
    collections::BTreeMap,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// Most DACs of which copies are kept.
const MAX_DACS: usize = 64;
/// Most nodes.
const MAX_NODES: usize = 20_000;
/// Most bytes of all copies.
const MAX_COPY_BYTES: usize = 64 << 20;

/// Copies of what other DACs have. The lock is held for a few look-ups, and no other is taken meanwhile.
#[derive(Debug, Default)]
pub struct Copies {
    inner: Mutex<Inner>,
    asked: Condvar,
}

#[derive(Debug, Default)]
struct Inner {
    dacs: BTreeMap<String, Dac>,
    /// Whether it is not known yet which DACs there are.
    is_searching: bool,
    /// Number of the last request for what is newest.
    asked: u64,
    bytes: usize,
    left_out: u64,
}

/// A DAC that gives copies.
#[derive(Debug, Default)]
struct Dac {
    nodes: BTreeMap<String, (Handover, usize)>,
    /// End position of its last answer.
    position: u64,
    /// When the last question was put that was answered, or was not.
    answered: Option<Instant>,
    failed: Option<Instant>,
    /// Reason why it gives none, if a user can change that.
    problem: Option<String>,
}

impl Dac {
    /// Whether all that it had at a time is here, or it does not answer.
    fn is_known_at(&self, time: Instant) -> bool {
        [self.answered, self.failed].into_iter().flatten().any(|at| at >= time)
    }

    fn is_reachable(&self) -> bool {
        self.answered > self.failed
    }
}

/// State of the copy of a DAC.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CopiedDac {
    /// Its name, or its address if it has none.
    pub dac: String,
    /// Whether it has answered the last question.
    pub is_reachable: bool,
    /// Nodes.
    pub nodes: usize,
    /// End position of its last answer.
    pub position: u64,
}

/// State of all copies.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CopyFigures {
    /// The DACs that are asked.
    pub dacs: Vec<CopiedDac>,
    /// Bytes of all copies.
    pub bytes: usize,
    /// States of rules and nodes that did not fit.
    pub left_out: u64,
}

/// Result of a search for the copy of a node that has come.
#[derive(Debug, Clone, PartialEq)]
pub enum CopyLookup {
    /// A DAC may still have something newer: look again.
    Wait,
    /// The newest that another DAC had, with its name; none if this DAC had the node last.
    Newest(Option<Box<(String, Handover)>>),
}

impl Copies {
    /// Which DACs there are is not known yet.
    pub fn set_searching(&self, is_searching: bool) {
        self.lock().is_searching = is_searching;
    }

    /// Adds a DAC. Returns whether there is room.
    pub fn add(&self, dac: &str) -> bool {
        let mut inner = self.lock();
        if !inner.dacs.contains_key(dac) && inner.dacs.len() >= MAX_DACS {
            inner.left_out += 1;
            return false;
        }
        inner.dacs.entry(dac.into()).or_default();
        true
    }

    /// Removes a DAC with its copies.
    pub fn remove(&self, dac: &str) {
        let mut inner = self.lock();
        let gone = inner.dacs.remove(dac).map_or(0, |gone| gone.nodes.values().map(|(_, bytes)| bytes).sum());
        inner.bytes -= gone;
    }

    /// Keeps what a DAC has said to a question that was put at a time.
    pub fn take(&self, dac: &str, page: HandoverPage, put: Instant) {
        self.lock().take(dac, page, put);
    }

    /// The same of a DAC that was started again: it says all that it has once more.
    pub fn begin(&self, dac: &str, page: HandoverPage, put: Instant) {
        let mut inner = self.lock();
        inner.forget(dac);
        inner.take(dac, page, put);
    }

    /// A DAC has not answered a question.
    pub fn fail(&self, dac: &str, problem: Option<String>) {
        if let Some(known) = self.lock().dacs.get_mut(dac) {
            (known.failed, known.problem) = (Some(Instant::now()), problem);
        }
    }

    /// Finds the newest that another DAC had of a node which came here at a time. `own`: the connection under which this DAC had it last.
    /// A DAC that answers is waited for until it has ended its part.
    pub fn find(&self, node: &str, came: Instant, own: Option<&NodeConnection>) -> CopyLookup {
        let inner = self.lock();
        if inner.is_searching || inner.dacs.values().any(|dac| !dac.is_known_at(came)) {
            return CopyLookup::Wait;
        }
        match inner.newest(node, own) {
            Some((name, copy)) if !copy.is_final && inner.is_reachable(&name) => CopyLookup::Wait,
            newest => CopyLookup::Newest(newest.map(Box::new)),
        }
    }

    /// The same, of what is here by now.
    pub fn newest(&self, node: &str, own: Option<&NodeConnection>) -> Option<(String, Handover)> {
        self.lock().newest(node, own)
    }

    /// Requests that all DACs are asked now.
    pub fn request_poll(&self) {
        self.lock().asked += 1;
        self.asked.notify_all();
    }

    /// Waits for a request, at most for that time. Returns the number for the next call.
    pub fn wait_for_request(&self, last: u64, most: Duration) -> u64 {
        let inner = self.lock();
        let waited = self.asked.wait_timeout_while(inner, most, |inner| inner.asked == last);
        waited.unwrap_or_else(PoisonError::into_inner).0.asked
    }

    /// Returns the state of all copies.
    pub fn figures(&self) -> CopyFigures {
        let copied = |(name, dac): (&String, &Dac)| CopiedDac {
            dac: name.clone(),
            is_reachable: dac.is_reachable(),
            nodes: dac.nodes.len(),
            position: dac.position,
        };
        let inner = self.lock();
        CopyFigures {
            dacs: inner.dacs.iter().map(copied).collect(),
            bytes: inner.bytes,
            left_out: inner.left_out,
        }
    }

    /// Why DACs give no copies.
    pub fn problems(&self) -> Vec<String> {
        let inner = self.lock();
        let problem = |(name, dac): (&String, &Dac)| Some(format!("{name}: {}", dac.problem.as_ref()?));
        inner.dacs.iter().filter_map(problem).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn take(&mut self, dac: &str, page: HandoverPage, put: Instant) {
        page.nodes.into_iter().for_each(|node| self.keep(dac, node));
        let Some(known) = self.dacs.get_mut(dac) else { return };
        (known.position, known.problem) = (page.position, None);
        if !page.has_more {
            known.answered = Some(put);
        }
    }

    fn forget(&mut self, dac: &str) {
        let Some(known) = self.dacs.get_mut(dac) else { return };
        let gone: usize = std::mem::take(&mut known.nodes).values().map(|(_, bytes)| bytes).sum();
        self.bytes -= gone;
    }

    fn nodes(&self) -> usize {
        self.dacs.values().map(|dac| dac.nodes.len()).sum()
    }

    fn is_reachable(&self, dac: &str) -> bool {
        self.dacs.get(dac).is_some_and(Dac::is_reachable)
    }

    fn keep(&mut self, dac: &str, mut copy: Handover) {
        copy.check();
        let (count, bytes) = (self.nodes(), self.bytes);
        let Some(known) = self.dacs.get_mut(dac) else { return };
        let before = known.nodes.remove(&copy.node).map_or(0, |(_, bytes)| bytes);
        let room = MAX_COPY_BYTES.saturating_sub(bytes - before);
        let left_out = copy.left_out;
        copy.fit(room);
        self.left_out += (copy.left_out - left_out) as u64;
        self.bytes -= before;
        let bytes = copy.bytes();
        if bytes > room || (before == 0 && count >= MAX_NODES) {
            self.left_out += 1;
            return;
        }
        self.bytes += bytes;
        known.nodes.insert(copy.node.clone(), (copy, bytes));
    }

    fn newest(&self, node: &str, own: Option<&NodeConnection>) -> Option<(String, Handover)> {
        let copies = self.dacs.iter().filter_map(|(name, dac)| Some((name, &dac.nodes.get(node)?.0)));
        let mut newest: Option<(&String, &Handover, &NodeConnection)> = None;
        for (name, copy) in copies {
            let Some(home) = &copy.home else { continue };
            let best = newest.map(|(.., best)| best).or(own);
            if best.is_none_or(|best| home.is_after(best)) {
                newest = Some((name, copy, home));
            }
        }
        newest.map(|(name, copy, _)| (name.clone(), copy.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn home(attach: u64) -> NodeConnection {
        NodeConnection { run: Uuid::nil(), attach: Some(attach), since: 0 }
    }

    fn copy(attach: u64, is_final: bool) -> Handover {
        Handover {
            node: "plant".into(),
            home: Some(home(attach)),
            is_final,
            alarms: Vec::new(),
            checkpoints: Vec::new(),
            left_out: 0,
        }
    }

    /// An answer to a question that is put now.
    fn answered(copies: &Copies, dac: &str, copy: Handover) {
        copies.take(dac, HandoverPage { nodes: vec![copy], ..HandoverPage::default() }, Instant::now());
    }

    #[test]
    fn the_copy_of_the_last_connection_counts_once_every_dac_has_answered_or_has_not() {
        let copies = Copies::default();
        assert!(copies.add("a") && copies.add("b"));
        let came = Instant::now();
        answered(&copies, "a", copy(1, true));
        assert_eq!(copies.find("plant", came, None), CopyLookup::Wait, "b has not been asked");
        answered(&copies, "b", copy(2, false));
        assert_eq!(copies.find("plant", came, None), CopyLookup::Wait, "b has not ended its part");
        answered(&copies, "b", copy(2, true));
        let newest = |found| match found {
            CopyLookup::Newest(newest) => newest.map(|newest| newest.0),
            CopyLookup::Wait => panic!("it waits"),
        };
        assert_eq!(newest(copies.find("plant", came, None)), Some("b".into()));
        assert_eq!(newest(copies.find("plant", came, Some(&home(2)))), None, "it is here already");
        assert_eq!(newest(copies.find("other", came, None)), None);
    }

    #[test]
    fn a_dac_that_does_not_answer_is_not_waited_for() {
        let copies = Copies::default();
        copies.add("a");
        answered(&copies, "a", copy(1, false));
        let came = Instant::now();
        assert_eq!(copies.find("plant", came, None), CopyLookup::Wait);
        copies.fail("a", Some("403".into()));
        assert!(matches!(copies.find("plant", came, None), CopyLookup::Newest(Some(_))));
        assert_eq!(copies.problems(), ["a: 403"]);
    }

    #[test]
    fn copies_have_a_bound_and_a_count() {
        let copies = Copies::default();
        for number in 0..MAX_DACS {
            assert!(copies.add(&number.to_string()));
        }
        assert!(!copies.add("one more"));
        answered(&copies, "0", copy(1, false));
        answered(&copies, "unknown", copy(1, false));
        let figures = copies.figures();
        assert_eq!((figures.dacs.len(), figures.dacs[0].nodes, figures.left_out), (MAX_DACS, 1, 1));
        copies.begin("0", HandoverPage::default(), Instant::now());
        assert_eq!((copies.figures().dacs[0].nodes, copies.figures().bytes), (0, 0));
    }
}
