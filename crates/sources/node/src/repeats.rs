//! Recognizes a request that is sent again, because its answer was lost.
//!
//! Clients send the same bytes again after a timeout. Digests of the newest requests show that their samples are taken already. A source
//! remembers only requests whose samples all have times of their own.

use std::collections::{HashSet, VecDeque};
use uuid::Uuid;

/// Digests that are remembered.
const MAX_DIGESTS: usize = 4_096;

/// The newest requests.
#[derive(Debug, Default)]
pub struct Repeats {
    order: VecDeque<Uuid>,
    known: HashSet<Uuid>,
}

impl Repeats {
    /// Returns the digest of a request: its query, which has the unit of its times, and its body.
    pub fn digest(query: &str, body: &[u8]) -> Uuid {
        let of_query = Uuid::new_v5(&Uuid::NAMESPACE_OID, query.as_bytes());
        Uuid::new_v5(&of_query, body)
    }

    /// Returns whether the request was taken before.
    pub fn has(&self, digest: Uuid) -> bool {
        self.known.contains(&digest)
    }

    /// Remembers a request that was taken.
    pub fn remember(&mut self, digest: Uuid) {
        if !self.known.insert(digest) {
            return;
        }
        self.order.push_back(digest);
        if self.order.len() > MAX_DIGESTS
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_requests_are_remembered() {
        let mut repeats = Repeats::default();
        let digest = |number: usize| Repeats::digest("precision=s", number.to_string().as_bytes());
        for number in 0..=MAX_DIGESTS {
            repeats.remember(digest(number));
            repeats.remember(digest(number));
        }
        assert!(!repeats.has(digest(0)) && repeats.has(digest(1)) && repeats.has(digest(MAX_DIGESTS)));
        assert_ne!(Repeats::digest("precision=s", b"a"), Repeats::digest("precision=ms", b"a"));
    }
}
