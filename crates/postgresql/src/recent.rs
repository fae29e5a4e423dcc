//! What was used last, up to a number: the rest is forgotten, and made again when it is needed.

use std::collections::VecDeque;

/// Things, the one used last in front.
#[derive(Debug)]
pub struct Recent<T> {
    most: usize,
    things: VecDeque<T>,
}

impl<T> Recent<T> {
    /// None yet, and never more than `most`.
    pub fn new(most: usize) -> Self {
        Self { most, things: VecDeque::new() }
    }

    /// The one that is it, which is thereby the last used.
    pub fn find(&mut self, is_it: impl Fn(&T) -> bool) -> Option<&mut T> {
        let at = self.things.iter().position(is_it)?;
        let thing = self.things.remove(at)?;
        self.things.push_front(thing);
        self.things.front_mut()
    }

    /// One more; the one that was not used for longest makes room.
    pub fn put(&mut self, thing: T) {
        self.things.truncate(self.most.saturating_sub(1));
        self.things.push_front(thing);
    }

    /// Forgets those that are it.
    pub fn forget(&mut self, is_it: impl Fn(&T) -> bool) {
        self.things.retain(|thing| !is_it(thing));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_not_used_for_longest_makes_room() {
        let mut recent = Recent::new(3);
        (1..=3).for_each(|number| recent.put(number));
        assert_eq!(recent.find(|&number| number == 1), Some(&mut 1));
        recent.put(4);
        assert_eq!(recent.things, [4, 1, 3]);
        assert_eq!(recent.find(|&number| number == 2), None);
        recent.forget(|&number| number == 1);
        assert_eq!(recent.things, [4, 3]);
    }
}
