//! Other TEMs: the peers of this one, and those that list the DAC of this process.

use oasis_tem::{LATE_AFTER, Liveness, TemEntry};
use oasis_wire::quantity::Epoch;
use std::{collections::BTreeMap, time::Instant};

/// Upper bound of the remembered TEMs. Configured ones come first: they are set before the first request.
const MAX_TEMS: usize = 64;

/// Other TEMs, by the address of their page.
#[derive(Debug, Default)]
pub struct Others {
    known: BTreeMap<String, Other>,
}

/// State of another TEM.
#[derive(Debug, Default)]
struct Other {
    /// Why it is of no use.
    problem: Option<String>,
    /// The life of its process, if it exchanges its list with this TEM.
    tem: Option<Epoch>,
    /// Whether the settings name it.
    is_configured: bool,
    /// When it asked last.
    asked: Option<Instant>,
}

impl Others {
    /// Says why a TEM of the settings is of no use, or that it is.
    pub fn set_problem(&mut self, address: &str, problem: Option<String>) {
        if let Some(other) = self.entry(address) {
            (other.is_configured, other.problem) = (true, problem);
        }
    }

    /// The process that answers at the address of a peer.
    pub fn set_tem(&mut self, address: &str, tem: Epoch) {
        if let Some(other) = self.entry(address) {
            (other.is_configured, other.tem) = (true, Some(tem));
        }
    }

    /// Returns another peer of the settings that is the same process.
    pub fn same(&self, address: &str, tem: Epoch) -> Option<&str> {
        let same = |(known, other): &(&String, &Other)| {
            known.as_str() != address && other.is_configured && other.tem == Some(tem)
        };
        self.known.iter().find(same).map(|(known, _)| known.as_str())
    }

    /// A TEM has asked this one.
    pub fn hear(&mut self, address: &str, tem: Epoch) {
        let is_known = self.known.values().any(|other| other.is_configured && other.tem == Some(tem));
        if !address.is_empty()
            && !is_known
            && let Some(other) = self.entry(address)
        {
            (other.tem, other.asked) = (Some(tem), Some(Instant::now()));
        }
    }

    fn entry(&mut self, address: &str) -> Option<&mut Other> {
        if !self.known.contains_key(address) {
            if self.known.len() >= MAX_TEMS {
                let silent = |other: &Other| !other.is_configured && !other.is_live();
                self.known.retain(|_, other| !silent(other));
            }
            if self.known.len() >= MAX_TEMS {
                return None;
            }
        }
        Some(self.known.entry(address.to_owned()).or_default())
    }

    /// Why TEMs are of no use.
    pub fn problems(&self) -> Vec<String> {
        self.known.values().filter_map(|other| other.problem.clone()).collect()
    }

    /// All of them.
    pub fn list(&self) -> Vec<TemEntry> {
        let entry = |(address, other): (&String, &Other)| TemEntry {
            doors: address.clone(),
            state: if other.is_live() { Liveness::Live } else { Liveness::Late },
            problem: other.problem.clone(),
        };
        self.known.iter().map(entry).collect()
    }
}

impl Other {
    fn is_live(&self) -> bool {
        match self.is_configured {
            true => self.problem.is_none(),
            false => self.asked.is_some_and(|asked| asked.elapsed() < LATE_AFTER),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_process_under_two_addresses_is_found() {
        let mut others = Others::default();
        others.set_tem("http://a:1", Epoch(1));
        assert_eq!(others.same("http://b:1", Epoch(1)), Some("http://a:1"));
        assert_eq!((others.same("http://a:1", Epoch(1)), others.same("http://b:1", Epoch(2))), (None, None));
    }

    #[test]
    fn a_flood_of_addresses_takes_bounded_room_and_no_place_of_the_settings() {
        let mut others = Others::default();
        others.set_problem("http://a:1", Some("it is silent".into()));
        (0..1_000).for_each(|port| others.hear(&format!("http://x:{port}"), Epoch(port)));
        assert_eq!(others.list().len(), MAX_TEMS);
        assert_eq!(others.problems(), ["it is silent"]);
        assert!(
            others.list().iter().any(|entry| entry.doors == "http://a:1" && entry.state == Liveness::Late)
        );
    }
}
