//! The least or the greatest number of a window.

use super::window::{self, Entry};
use std::{cmp::Ordering, collections::VecDeque};

/// The entries that can become the least of a window when those before them have left, or the greatest: their numbers, the present one first.
#[derive(Debug, Clone)]
pub struct Extreme {
    /// Order of a value and one after it if the first is nearer to the extreme.
    better: Ordering,
    /// Entries are numbered as they come; numbers begin anew after 2^32, of which a window has a small part.
    numbers: VecDeque<u32>,
    /// Number of the first entry of the window.
    first: u32,
}

impl Extreme {
    pub fn least() -> Self {
        Self { better: Ordering::Less, numbers: VecDeque::new(), first: 0 }
    }

    pub fn greatest() -> Self {
        Self { better: Ordering::Greater, ..Self::least() }
    }

    fn value(&self, entries: &VecDeque<Entry>, number: u32) -> Option<f64> {
        entries.get(number.wrapping_sub(self.first) as usize).map(|entry| entry.value)
    }

    /// Takes an entry that comes after these.
    pub fn enter(&mut self, entries: &VecDeque<Entry>, value: f64, capacity: usize) {
        if value.is_nan() {
            return;
        }
        // -0 is less than 0, so that the answer depends on the values alone.
        let is_better = |other: f64| other.total_cmp(&value) == self.better;
        while let Some(&number) = self.numbers.back() {
            if self.value(entries, number).is_some_and(is_better) {
                break;
            }
            self.numbers.pop_back();
        }
        window::reserve(&mut self.numbers, capacity);
        self.numbers.push_back(self.first.wrapping_add(entries.len() as u32));
    }

    /// The first entry leaves.
    pub fn leave(&mut self) {
        if self.numbers.front() == Some(&self.first) {
            self.numbers.pop_front();
        }
        self.first = self.first.wrapping_add(1);
    }

    /// Returns the extreme of the entries that are known.
    pub fn of(&self, entries: &VecDeque<Entry>) -> Option<f64> {
        self.value(entries, *self.numbers.front()?)
    }
}
