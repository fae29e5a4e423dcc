//! Bounds the number of concurrent queries.

use axum::http::StatusCode;
use oasis_access::{Target, Verb};
use oasis_http::{Problem, permissions::Caller};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::Notify;

/// Queries at the same time, all principals together.
const MAX_QUERIES: usize = 4;
/// Places besides, for administrators: whoever is to find out what the others ask can ask.
const EXTRA_ADMINISTRATOR_QUERIES: usize = 1;
/// Queries of one principal at the same time.
const MAX_QUERIES_OF_PRINCIPAL: usize = 2;

/// Counts the queries of each principal.
#[derive(Debug, Clone, Default)]
pub struct Turns(Arc<Running>);

/// The queries that run.
#[derive(Debug, Default)]
struct Running {
    /// Their number for each principal.
    of_principals: Mutex<HashMap<String, usize>>,
    /// Woken whenever one ends.
    ended: Notify,
}

impl Turns {
    /// Lets a caller run one more query, until the turn is dropped.
    ///
    /// # Errors
    /// If too many run: 429.
    pub fn take_for(&self, caller: &Caller) -> Result<Turn, Problem> {
        self.take(&caller.principal().to_string(), caller.may(Verb::Administration, Target::Dac))
    }

    /// Waits until a caller may run one more query. The future may be dropped at any time.
    pub async fn wait_for(&self, caller: &Caller) -> Turn {
        loop {
            let ended = self.0.ended.notified();
            tokio::pin!(ended);
            // Registered before the look, so that no end between the two is missed.
            ended.as_mut().enable();
            if let Ok(turn) = self.take_for(caller) {
                return turn;
            }
            ended.await;
        }
    }

    /// Lets a principal run one more query, until the turn is dropped. The last place is for administrators.
    ///
    /// # Errors
    /// If too many run: 429.
    pub fn take(&self, principal: &str, is_administrator: bool) -> Result<Turn, Problem> {
        let mut running = self.lock();
        let all: usize = running.values().sum();
        let own = running.get(principal).copied().unwrap_or_default();
        let most = if is_administrator { MAX_QUERIES + EXTRA_ADMINISTRATOR_QUERIES } else { MAX_QUERIES };
        if all >= most || own >= MAX_QUERIES_OF_PRINCIPAL {
            let detail =
                format!("{own} of your queries and {all} of everybody run: repeat it when one has ended");
            return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, "too_many_queries", detail));
        }
        running.insert(principal.to_owned(), own + 1);
        Ok(Turn { turns: self.clone(), principal: principal.to_owned() })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, usize>> {
        self.0.of_principals.lock().unwrap_or_else(PoisonError::into_inner)
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
        drop(running);
        self.turns.0.ended.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_caller_waits_until_another_query_has_ended() {
        let (turns, caller) = (Turns::default(), Caller::local());
        let first = turns.wait_for(&caller).await;
        let _second = turns.wait_for(&caller).await;
        let (others, same) = (turns.clone(), caller.clone());
        let third = tokio::spawn(async move { drop(others.wait_for(&same).await) });
        tokio::task::yield_now().await;
        assert!(!third.is_finished() && turns.take_for(&caller).is_err());
        drop(first);
        third.await.unwrap();
        assert!(turns.take_for(&caller).is_ok());
    }

    #[test]
    fn a_principal_has_two_turns_and_all_together_four_and_one_is_kept_for_administrators() {
        let turns = Turns::default();
        let take = |principal: &str| turns.take(principal, false);
        let ada = [take("ada").unwrap(), take("ada").unwrap()];
        assert!(take("ada").is_err());
        let _bob = [take("bob").unwrap(), take("bob").unwrap()];
        assert!(take("eve").is_err());
        let root = turns.take("root", true).unwrap();
        assert!(turns.take("root", true).is_err());
        drop((ada, root));
        assert!(take("ada").is_ok() && take("eve").is_ok());
    }
}
