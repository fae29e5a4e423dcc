//! Which of several DACs a node tries next. Pure: it takes what happened, and the time.

use crate::{Ended, Turn};
use std::time::{Duration, Instant};

/// Most DACs that a node knows.
pub const MAX_CANDIDATES: usize = 64;
/// A DAC that has refused the node is not tried for this long, unless all have.
const SKIP_TIME: Duration = Duration::from_secs(10);

/// The addresses of the DACs in the order in which they are tried. After the last comes the first.
#[derive(Debug, Clone)]
pub struct Candidates {
    known: Vec<Candidate>,
    at: usize,
}

#[derive(Debug, Clone)]
struct Candidate {
    address: String,
    /// Whether it was tried since the last connection that worked, or since all others were tried.
    is_tried: bool,
    /// When it refused the node.
    refused: Option<Instant>,
}

impl Candidate {
    fn new(address: String) -> Self {
        Self { address, is_tried: false, refused: None }
    }

    fn is_skipped(&self, now: Instant) -> bool {
        self.refused.is_some_and(|since| now.saturating_duration_since(since) < SKIP_TIME)
    }
}

impl Candidates {
    /// The first address is the first choice. Addresses after the first [`MAX_CANDIDATES`] are ignored.
    pub fn new(addresses: Vec<String>) -> Self {
        let mut known: Vec<Candidate> = Vec::new();
        for address in addresses {
            if known.len() < MAX_CANDIDATES && known.iter().all(|candidate| candidate.address != address) {
                known.push(Candidate::new(address));
            }
        }
        Self { known, at: 0 }
    }

    /// The address to try now, or that the node is connected to; empty if there is none.
    pub fn current(&self) -> &str {
        self.known.get(self.at).map_or("", |candidate| &candidate.address)
    }

    /// Whether there is more than one.
    pub fn has_others(&self) -> bool {
        self.known.len() > 1
    }

    /// Turns to the next address: the first after this one that was neither tried in this round, nor refused the node lately.
    pub fn turn(&mut self, ended: Ended, now: Instant) -> Turn {
        if ended == Ended::Lost {
            self.known.iter_mut().for_each(|candidate| candidate.is_tried = false);
        }
        if let Some(current) = self.known.get_mut(self.at) {
            current.is_tried = true;
            current.refused = (ended == Ended::Refused).then_some(now);
        }
        if let Some(next) = self.next(|candidate| !candidate.is_tried && !candidate.is_skipped(now)) {
            self.at = next;
            return Turn::Next;
        }
        self.known.iter_mut().for_each(|candidate| candidate.is_tried = false);
        let next = self.next(|candidate| !candidate.is_skipped(now)).or_else(|| self.next(|_| true));
        self.at = next.unwrap_or_default();
        Turn::RoundOver
    }

    /// The first suitable address after the present one, which comes last.
    fn next(&self, is_suitable: impl Fn(&Candidate) -> bool) -> Option<usize> {
        let count = self.known.len();
        (1..=count).map(|step| (self.at + step) % count).find(|&at| is_suitable(&self.known[at]))
    }

    /// Replaces the addresses. The present one stays, and what happened at others is not forgotten. Addresses that the list lacks come after
    /// all others: a DAC that restarts is in no list for a while. An empty list changes nothing.
    pub fn replace(&mut self, addresses: Vec<String>) {
        if addresses.is_empty() {
            return;
        }
        if self.known.is_empty() {
            *self = Self::new(addresses);
            return;
        }
        let current = self.current().to_owned();
        let is_listed = addresses.contains(&current);
        // An unlisted one comes first, so that the next one is the first of the list.
        let first = (!is_listed).then(|| current.clone());
        let known = self.known.iter().map(|candidate| candidate.address.clone());
        let mut new = Self::new(first.into_iter().chain(addresses).chain(known).collect());
        for candidate in &mut new.known {
            let before = self.known.iter().find(|known| known.address == candidate.address);
            if let Some(before) = before {
                candidate.clone_from(before);
            }
        }
        new.at = new.known.iter().position(|candidate| candidate.address == current).unwrap_or_default();
        *self = new;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Ended::{Failed, Lost, Refused};
    use Turn::{Next, RoundOver};

    fn candidates(addresses: &[&str]) -> Candidates {
        Candidates::new(addresses.iter().map(|&address| address.into()).collect())
    }

    /// Turns once, and returns the next address with the kind of the turn.
    fn turned(candidates: &mut Candidates, ended: Ended, now: Instant) -> (String, Turn) {
        let turn = candidates.turn(ended, now);
        (candidates.current().into(), turn)
    }

    #[test]
    fn each_dac_is_tried_once_in_a_round() {
        let (mut three, now) = (candidates(&["a", "b", "c"]), Instant::now());
        assert_eq!(three.current(), "a");
        let mut fail = || turned(&mut three, Failed, now);
        assert_eq!(
            [fail(), fail(), fail()],
            [("b".into(), Next), ("c".into(), Next), ("a".into(), RoundOver)]
        );
        assert_eq!(
            [fail(), fail(), fail()],
            [("b".into(), Next), ("c".into(), Next), ("a".into(), RoundOver)]
        );
    }

    #[test]
    fn after_a_lost_connection_all_others_come_before_the_same_dac() {
        let (mut three, now) = (candidates(&["a", "b", "c"]), Instant::now());
        assert_eq!(turned(&mut three, Failed, now), ("b".into(), Next));
        assert_eq!(turned(&mut three, Lost, now), ("c".into(), Next), "b had worked");
        assert_eq!(turned(&mut three, Failed, now), ("a".into(), Next), "its failure was before that");
        assert_eq!(turned(&mut three, Failed, now), ("b".into(), RoundOver));
    }

    #[test]
    fn a_single_dac_is_its_own_successor_after_a_pause() {
        let (mut one, now) = (candidates(&["a"]), Instant::now());
        assert!(!one.has_others());
        for ended in [Lost, Failed, Refused, Lost] {
            assert_eq!(turned(&mut one, ended, now), ("a".into(), RoundOver));
        }
    }

    #[test]
    fn a_dac_that_refuses_is_skipped_for_a_while_unless_all_refuse() {
        let (mut two, now) = (candidates(&["a", "b"]), Instant::now());
        assert_eq!(turned(&mut two, Refused, now), ("b".into(), Next));
        assert_eq!(turned(&mut two, Failed, now), ("b".into(), RoundOver));
        assert_eq!(turned(&mut two, Failed, now + SKIP_TIME / 2), ("b".into(), RoundOver));
        assert_eq!(turned(&mut two, Failed, now + SKIP_TIME), ("a".into(), Next));
        let mut refused = || turned(&mut two, Refused, now + SKIP_TIME);
        assert_eq!([refused(), refused()], [("b".into(), RoundOver), ("a".into(), RoundOver)]);
    }

    #[test]
    fn a_new_list_keeps_the_present_dac_and_what_happened() {
        let mut none = candidates(&[]);
        assert_eq!(turned(&mut none, Failed, Instant::now()), (String::new(), RoundOver));
        none.replace(vec!["a".into()]);
        assert_eq!(none.current(), "a");
        let (mut two, now) = (candidates(&["a", "b"]), Instant::now());
        two.turn(Refused, now);
        two.replace(vec!["c".into(), "a".into(), "a".into()]);
        assert_eq!(two.current(), "b", "the node is connected to it");
        assert_eq!(turned(&mut two, Lost, now), ("c".into(), Next));
        assert_eq!(turned(&mut two, Failed, now), ("b".into(), RoundOver), "a has refused");
        two.replace(Vec::new());
        assert_eq!(two.current(), "b");
        two.replace(vec!["d".into(), "b".into()]);
        assert_eq!(turned(&mut two, Lost, now), ("c".into(), Next), "it was in an earlier list");
        assert_eq!(turned(&mut two, Failed, now), ("d".into(), Next));
        two.replace((0..200).map(|number| number.to_string()).collect());
        assert_eq!((two.current(), two.known.len()), ("d", MAX_CANDIDATES));
    }
}
