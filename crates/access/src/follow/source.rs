//! The content that a DAC gives to its followers.

use super::{
    copy::{AccountsCopy, Position},
    files::random_name,
};
use crate::{access::Access, store::StoreError};
use std::sync::{Mutex, PoisonError};

/// The revisions of the state of a generation, so that the files are read once for all followers.
#[derive(Debug, Default)]
pub(crate) struct NumberedState {
    /// Held while the files are read and written; callers may block.
    last: Mutex<Option<(u64, Position)>>,
    /// A random name of this process; empty until the first request.
    name: std::sync::OnceLock<String>,
}

impl Access {
    /// A name of this process: a DAC that follows itself finds it.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub(super) fn process_name(&self) -> Result<&str, StoreError> {
        if let Some(name) = self.numbered.name.get() {
            return Ok(name);
        }
        let made = random_name()?;
        Ok(self.numbered.name.get_or_init(|| made))
    }

    /// Returns the accounts, without what a follower at this position has. May block for a disk.
    ///
    /// # Errors
    /// If the accounts are in memory or a copy, or the revisions cannot be read or written.
    pub fn copy_since(&self, after: Option<&Position>) -> Result<AccountsCopy, StoreError> {
        if let Some(follower) = &self.follower {
            return Err(StoreError::CopyOfCopy { from: follower.state().source.clone() });
        }
        let (path, position) = (vec![self.process_name()?.to_owned()], self.position()?);
        let known = after.filter(|known| known.authority == position.authority);
        let has_accounts = known.is_some_and(|known| known.accounts == position.accounts);
        let has_nodes = known.is_some_and(|known| known.nodes == position.nodes);
        let accounts = (!has_accounts).then(|| self.document());
        let nodes = (!has_nodes).then(|| (*self.nodes()).clone());
        Ok(AccountsCopy { path, position, accounts, nodes })
    }

    /// Returns the revisions of the state in force. They are on the disk before any follower receives them.
    fn position(&self) -> Result<Position, StoreError> {
        let mut last = self.numbered.last.lock().unwrap_or_else(PoisonError::into_inner);
        // The generation is read before the content: a change after that is numbered the next time.
        let generation = self.generation();
        if let Some((known, position)) = &*last
            && *known == generation
        {
            return Ok(position.clone());
        }
        let store = self.store.as_ref().ok_or(StoreError::InMemory)?;
        let position = store.number(&self.document(), &self.nodes())?;
        *last = Some((generation, position.clone()));
        Ok(position)
    }
}
