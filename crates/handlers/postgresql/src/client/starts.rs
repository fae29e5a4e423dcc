//! Start positions of instances without a position in the database.

use oasis_wire::quantity::Position;
use std::collections::{HashMap, HashSet};

/// Node and instance, as the database spells them.
pub type Names = (String, String);

/// The oldest position of each instance when it was first seen.
#[derive(Debug, Default)]
pub struct Starts(HashMap<Names, Position>);

impl Starts {
    /// Returns the start position of an instance whose oldest sample is now at this position.
    pub fn of(&mut self, names: Names, oldest: Position) -> Position {
        *self.0.entry(names).or_insert(oldest)
    }

    /// Returns the number of instances.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Removes all other instances: one that returns later starts at its oldest sample by then.
    pub fn keep(&mut self, names: &HashSet<Names>) {
        self.0.retain(|known, _| names.contains(known));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oasis_wire::quantity::{Epoch, Offset};

    #[test]
    fn an_instance_starts_where_it_was_first_seen_until_it_is_removed() {
        let at = |offset| Position { epoch: Epoch(1), offset: Offset(offset) };
        let names = |name: &str| ("plant".to_owned(), name.to_owned());
        let mut starts = Starts::default();
        for name in ["a", "b"] {
            assert_eq!(starts.of(names(name), at(5)), at(5));
            assert_eq!(starts.of(names(name), at(9)), at(5));
        }
        starts.keep(&HashSet::from([names("b")]));
        assert_eq!(starts.len(), 1);
        assert_eq!((starts.of(names("a"), at(9)), starts.of(names("b"), at(9))), (at(9), at(5)));
    }
}
