//! Log lines about something that happens again and again: the first one, then one in a while.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// Time between two lines about the same.
const REPEAT_INTERVAL: Duration = Duration::from_secs(600);
/// Upper bound of the different messages that are known at a time.
const MAX_MESSAGES: usize = 256;

/// Messages that were logged lately.
#[derive(Debug, Default)]
pub(crate) struct Repeats {
    /// When each was logged, and how often it has happened since. Locked for a look.
    logged: Mutex<BTreeMap<String, (Instant, u64)>>,
}

impl Repeats {
    /// Returns how often this has happened since its last line, if one more may be logged now.
    pub(crate) fn admit(&self, what: &str, now: Instant) -> Option<u64> {
        let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((last, left_out)) = logged.get_mut(what) {
            if now.saturating_duration_since(*last) < REPEAT_INTERVAL {
                *left_out += 1;
                return None;
            }
            *last = now;
            return Some(std::mem::take(left_out));
        }
        if logged.len() >= MAX_MESSAGES {
            logged.retain(|_, (last, _)| now.saturating_duration_since(*last) < REPEAT_INTERVAL);
        }
        // With more than these the limit of all lines is the only one.
        if logged.len() < MAX_MESSAGES {
            logged.insert(what.to_owned(), (now, 0));
        }
        Some(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_logged_and_then_one_in_a_while() {
        let repeats = Repeats::default();
        let start = Instant::now();
        assert_eq!(repeats.admit("plant name_taken", start), Some(0));
        for second in 1..600 {
            assert_eq!(repeats.admit("plant name_taken", start + Duration::from_secs(second)), None);
        }
        assert_eq!(repeats.admit("mill name_taken", start), Some(0));
        assert_eq!(repeats.admit("plant name_taken", start + REPEAT_INTERVAL), Some(599));
        assert_eq!(repeats.admit("plant name_taken", start + REPEAT_INTERVAL), None);
    }

    #[test]
    fn its_memory_is_bounded() {
        let repeats = Repeats::default();
        let start = Instant::now();
        for number in 0..2 * MAX_MESSAGES {
            assert_eq!(repeats.admit(&number.to_string(), start), Some(0));
        }
        assert_eq!(repeats.logged.lock().unwrap().len(), MAX_MESSAGES);
        repeats.admit("later", start + REPEAT_INTERVAL);
        assert_eq!(repeats.logged.lock().unwrap().len(), 1);
    }
}
