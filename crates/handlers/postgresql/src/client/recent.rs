//! A small cache of the most recently used entries: older ones are evicted, and created again when needed.

use std::collections::VecDeque;

/// Entries, the most recently used first.
#[derive(Debug)]
pub struct LruCache<T> {
    most: usize,
    things: VecDeque<T>,
}

impl<T> LruCache<T> {
    /// Creates an empty cache of at most `most` entries.
    pub fn new(most: usize) -> Self {
        Self { most, things: VecDeque::new() }
    }

    /// Returns the matching entry, which becomes the most recently used.
    pub fn find(&mut self, is_it: impl Fn(&T) -> bool) -> Option<&mut T> {
        let at = self.things.iter().position(is_it)?;
        let thing = self.things.remove(at)?;
        self.things.push_front(thing);
        self.things.front_mut()
    }

    /// Adds an entry; evicts the least recently used one if full.
    pub fn put(&mut self, thing: T) {
        self.things.truncate(self.most.saturating_sub(1));
        self.things.push_front(thing);
    }

    /// Removes the matching entries.
    pub fn forget(&mut self, is_it: impl Fn(&T) -> bool) {
        self.things.retain(|thing| !is_it(thing));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_entry_is_evicted() {
        let mut recent = LruCache::new(3);
        (1..=3).for_each(|number| recent.put(number));
        assert_eq!(recent.find(|&number| number == 1), Some(&mut 1));
        recent.put(4);
        assert_eq!(recent.things, [4, 1, 3]);
        assert_eq!(recent.find(|&number| number == 2), None);
        recent.forget(|&number| number == 1);
        assert_eq!(recent.things, [4, 3]);
    }
}
