//! How many queries run at the same time.

use axum::http::StatusCode;
use oasis_doors::Problem;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Queries at the same time, all principals together.
const MOST: usize = 4;
/// Queries of one principal at the same time.
const MOST_OF_ONE: usize = 2;

/// Counts the queries of each principal.
#[derive(Debug, Clone, Default)]
pub struct Turns(Arc<Mutex<HashMap<String, usize>>>);

impl Turns {
    /// Lets a principal run one more query, until the turn is dropped.
    ///
    /// # Errors
    /// If too many run: 429.
    pub fn take(&self, principal: &str) -> Result<Turn, Problem> {
        let mut running = self.lock();
        let all: usize = running.values().sum();
        let own = running.get(principal).copied().unwrap_or_default();
        if all >= MOST || own >= MOST_OF_ONE {
            let detail =
                format!("{own} of your queries and {all} of everybody run: repeat it when one has ended");
            return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, "too_many_queries", detail));
        }
        running.insert(principal.to_owned(), own + 1);
        Ok(Turn { turns: self.clone(), principal: principal.to_owned() })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A query that runs.
#[derive(Debug)]
pub struct Turn {
    turns: Turns,
    principal: String,
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut running = self.turns.lock();
        if let Some(own) = running.get_mut(&self.principal) {
            *own -= 1;
            if *own == 0 {
                running.remove(&self.principal);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_principal_has_two_turns_and_all_together_four() {
        let turns = Turns::default();
        let ada = [turns.take("ada").unwrap(), turns.take("ada").unwrap()];
        assert!(turns.take("ada").is_err());
        let _bob = [turns.take("bob").unwrap(), turns.take("bob").unwrap()];
        assert!(turns.take("eve").is_err());
        drop(ada);
        assert!(turns.take("ada").is_ok() && turns.take("eve").is_ok());
    }
}
