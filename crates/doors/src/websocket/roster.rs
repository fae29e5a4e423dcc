//! The shards that there are, and to which of them a connection goes.

use super::{balance, inbox::IncomingConnection, shard_handle::ShardHandle};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Handles of all shards, by number.
#[derive(Debug, Default)]
pub struct Roster {
    homes: Mutex<Vec<Arc<ShardHandle>>>,
}

impl Roster {
    /// All shards, also those that hand over their connections.
    pub fn all(&self) -> Vec<Arc<ShardHandle>> {
        self.homes().clone()
    }

    /// The shards that take connections.
    pub fn open(&self) -> Vec<Arc<ShardHandle>> {
        self.homes().iter().filter(|home| !home.is_leaving()).cloned().collect()
    }

    /// The lowest number that no shard has.
    pub fn free_number(&self) -> usize {
        let homes = self.homes();
        (0..=homes.len()).find(|number| homes.iter().all(|home| home.number != *number)).unwrap_or_default()
    }

    /// Adds a shard.
    pub fn add(&self, home: Arc<ShardHandle>) {
        let mut homes = self.homes();
        homes.push(home);
        homes.sort_by_key(|home| home.number);
    }

    /// Removes a shard that has ended.
    pub fn remove(&self, ended: &Arc<ShardHandle>) {
        self.homes().retain(|home| !Arc::ptr_eq(home, ended));
    }

    /// Sends a connection to the least loaded shard, other than the one with the number `except`.
    ///
    /// # Errors
    /// Gives the connection back if no shard takes it.
    pub fn board(
        &self,
        mut passenger: IncomingConnection,
        except: Option<usize>,
    ) -> Result<(), IncomingConnection> {
        let mut homes = self.open();
        homes.retain(|home| Some(home.number) != except);
        let loads: Vec<_> = homes.iter().map(|home| home.load()).collect();
        let cost = balance::cost(&loads);
        let mut ranked: Vec<_> = homes.iter().zip(loads).collect();
        ranked.sort_by_key(|(_, load)| load.rank(cost));
        for (home, _) in ranked {
            match home.board(passenger) {
                Ok(()) => return Ok(()),
                Err(back) => passenger = back,
            }
        }
        Err(passenger)
    }

    fn homes(&self) -> MutexGuard<'_, Vec<Arc<ShardHandle>>> {
        self.homes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
