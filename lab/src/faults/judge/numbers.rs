//! A set of sequence numbers.

/// Numbers from 1 on, a bit each.
#[derive(Debug, Clone, Default)]
pub struct Numbers {
    words: Vec<u64>,
    count: u64,
    greatest: u64,
}

/// Greatest number that is kept: 8 MiB of bits.
pub const GREATEST: u64 = 64 * 1024 * 1024;

impl Numbers {
    /// Adds a number. Returns whether it is new; numbers above [`GREATEST`] never are.
    pub fn add(&mut self, number: u64) -> bool {
        if number > GREATEST {
            return false;
        }
        let (word, bit) = ((number / 64) as usize, 1 << (number % 64));
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        let is_new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        self.count += u64::from(is_new);
        self.greatest = self.greatest.max(number);
        is_new
    }

    /// Whether it contains a number.
    pub fn contains(&self, number: u64) -> bool {
        self.words.get((number / 64) as usize).is_some_and(|word| word & (1 << (number % 64)) != 0)
    }

    /// Returns the count of the numbers.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The greatest; 0 without any.
    pub fn greatest(&self) -> u64 {
        self.greatest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_new_once() {
        let mut numbers = Numbers::default();
        assert!([1, 63, 64, 1_000].into_iter().all(|number| numbers.add(number)));
        assert!(!numbers.add(64) && !numbers.add(GREATEST + 1));
        assert_eq!((numbers.count(), numbers.greatest()), (4, 1_000));
        assert!(numbers.contains(1_000) && !numbers.contains(999) && !numbers.contains(100_000));
    }
}
