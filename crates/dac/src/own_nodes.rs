//! Names of the nodes of the DAC's own process: no other node may have them.

use oasis_channel::{Failure, ResumeSecret};
use oasis_tls::Peer;
use oasis_wire::stored::RunOwner;
use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Runs of an own node whose secrets are remembered. A spool on the disk sends earlier runs first.
const MAX_RUNS: usize = 64;

/// The names of the DAC's own nodes. They are reserved before any node can connect.
#[derive(Debug, Default)]
pub struct OwnNodes(
    /// Owners of the newest runs, by name. Held for a look or a change.
    Mutex<BTreeMap<String, VecDeque<RunOwner>>>,
);

impl OwnNodes {
    /// Reserves a name for nodes of this process.
    pub fn reserve(&self, name: &str) {
        self.lock().entry(name.into()).or_default();
    }

    /// Notes that a node of this process is about to say hello with this secret. Without effect for a name that is not reserved.
    pub fn expect(&self, name: &str, secret: ResumeSecret) {
        let mut names = self.lock();
        let Some(owners) = names.get_mut(name) else { return };
        let owner = secret.owner();
        if owners.contains(&owner) {
            return;
        }
        if owners.len() >= MAX_RUNS {
            owners.pop_front();
        }
        owners.push_back(owner);
    }

    /// Checks that a node may have a name: it is of this process, or the name is not reserved.
    ///
    /// # Errors
    /// `name_reserved`
    pub(crate) fn check(&self, name: &str, peer: &Peer, secret: Option<ResumeSecret>) -> Result<(), Failure> {
        let names = self.lock();
        let Some(owners) = names.get(name).filter(|_| !matches!(peer, Peer::Itself)) else { return Ok(()) };
        if secret.is_some_and(|secret| owners.iter().any(|owner| secret.is_of(owner))) {
            return Ok(());
        }
        let message = format!(
            "the name {name:?} belongs to a node of the DAC itself: give this node another name (node.name, --name)"
        );
        Err(Failure::new("name_reserved", message))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, VecDeque<RunOwner>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reserved_name_is_for_the_process_itself() {
        let own = OwnNodes::default();
        let secrets: Vec<_> = (0..=MAX_RUNS).map(|_| ResumeSecret::random()).collect();
        let check = |secret| own.check("dac", &Peer::Anonymous, secret).map_err(|failure| failure.code);
        own.expect("dac", secrets[0]);
        assert_eq!(check(None), Ok(()), "nobody has reserved it");
        own.reserve("dac");
        assert_eq!(check(Some(secrets[0])), Err("name_reserved".into()));
        assert_eq!(own.check("dac", &Peer::Itself, None), Ok(()));
        secrets.iter().for_each(|secret| own.expect("dac", *secret));
        own.reserve("dac");
        assert_eq!(check(Some(secrets[MAX_RUNS])), Ok(()));
        assert_eq!(
            check(Some(secrets[0])),
            Err("name_reserved".into()),
            "only the newest runs are remembered"
        );
        assert_eq!(check(None), Err("name_reserved".into()));
    }
}
