//! Which numbers of a sequence have arrived, as far as they are recent: each is accepted once (RFC 6479).

/// Numbers before the newest one that can still be accepted.
pub const WINDOW: u64 = 1_024;
/// Bits of a word.
const WORD_BITS: u64 = u64::BITS as u64;
/// Words: those of the window, and the one that is being begun.
const WORD_COUNT: usize = (WINDOW / WORD_BITS) as usize + 1;

/// The newest number, and which of those before it have arrived.
#[derive(Debug, Clone, Default)]
pub struct ReplayWindow {
    newest: u64,
    seen: [u64; WORD_COUNT],
}

impl ReplayWindow {
    /// Whether a number is new: it was not accepted, and is not older than the window. Numbers begin at 1.
    pub fn is_new(&self, number: u64) -> bool {
        if number > self.newest {
            return true;
        }
        let is_recent = number > 0 && self.newest - number < WINDOW;
        is_recent && self.seen.get(word(number)).is_some_and(|word| word & bit(number) == 0)
    }

    /// Accepts a number. Whether it was new.
    pub fn accept(&mut self, number: u64) -> bool {
        if !self.is_new(number) {
            return false;
        }
        if number > self.newest {
            let (old, new) = (self.newest / WORD_BITS, number / WORD_BITS);
            // No more than all words: a sender may skip any number of numbers.
            for block in (old + 1..=new).take(WORD_COUNT) {
                self.seen[(block % WORD_COUNT as u64) as usize] = 0;
            }
            if new - old > WORD_COUNT as u64 {
                self.seen = [0; WORD_COUNT];
            }
            self.newest = number;
        }
        self.seen[word(number)] |= bit(number);
        true
    }
}

fn word(number: u64) -> usize {
    (number / WORD_BITS % WORD_COUNT as u64) as usize
}

fn bit(number: u64) -> u64 {
    1 << (number % WORD_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    proptest! {
        /// Whatever order, gaps and repetitions: the window decides as a set of all numbers does.
        #[test]
        fn each_recent_number_is_accepted_once(
            steps in prop::collection::vec(prop_oneof![
                6 => (-1_100_i64..80).prop_map(|step| step),
                1 => (-3_i64..5_000).prop_map(|step| step),
            ], 1..600),
        ) {
            let (mut window, mut accepted, mut newest) = (ReplayWindow::default(), HashSet::new(), 0_u64);
            for step in steps {
                let number = newest.saturating_add_signed(step);
                let is_recent = number > 0 && number.saturating_add(WINDOW) > newest;
                let wanted = is_recent && !accepted.contains(&number);
                prop_assert_eq!(window.is_new(number), wanted, "{} of {}", number, newest);
                prop_assert_eq!(window.accept(number), wanted, "{} of {}", number, newest);
                if wanted {
                    accepted.insert(number);
                    newest = newest.max(number);
                }
            }
        }

        #[test]
        fn any_numbers_are_decided_about(numbers in prop::collection::vec(any::<u64>(), 0..50)) {
            let mut window = ReplayWindow::default();
            for number in numbers {
                let was_new = window.is_new(number);
                prop_assert_eq!(window.accept(number), was_new);
                prop_assert!(!window.accept(number));
            }
        }
    }

    #[test]
    fn the_window_has_its_size() {
        let mut window = ReplayWindow::default();
        assert!(!window.accept(0) && window.accept(5_000) && !window.accept(5_000));
        assert!(window.is_new(5_000 - WINDOW + 1) && !window.is_new(5_000 - WINDOW));
        assert!(window.accept(u64::MAX) && !window.accept(5_001));
    }
}
