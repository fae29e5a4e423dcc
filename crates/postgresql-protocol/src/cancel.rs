//! Statements that run, and who may cancel them: whoever knows the secret of their connection.

use std::{
    collections::HashMap,
    io,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
};
use tokio::sync::Notify;

/// Tells a statement to end.
#[derive(Debug, Clone, Default)]
pub struct CancelFlag {
    is_set: Arc<AtomicBool>,
    woken: Arc<Notify>,
}

impl CancelFlag {
    /// The flag for the thread of the query.
    pub fn shared(&self) -> Arc<AtomicBool> {
        self.is_set.clone()
    }

    /// Asks the statement to end.
    pub fn set(&self) {
        self.is_set.store(true, Ordering::Relaxed);
        self.woken.notify_one();
    }

    /// Waits until it is set.
    pub async fn wait(&self) {
        while !self.is_set.load(Ordering::Relaxed) {
            self.woken.notified().await;
        }
    }
}

#[derive(Debug)]
struct CancelEntry {
    secret: [u8; 4],
    running: Option<CancelFlag>,
}

/// Connections by number, with their secrets. As many as there are connections.
#[derive(Debug, Default)]
pub struct CancelRegistry {
    next: AtomicU32,
    entries: Mutex<HashMap<u32, CancelEntry>>,
}

impl CancelRegistry {
    /// Adds a connection.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub fn add(self: &Arc<Self>) -> io::Result<CancelKey> {
        let mut secret = [0; 4];
        getrandom::fill(&mut secret).map_err(|error| io::Error::other(error.to_string()))?;
        let mut entries = self.lock();
        let process = loop {
            let process = self.next.fetch_add(1, Ordering::Relaxed) & (i32::MAX as u32);
            if process != 0 && !entries.contains_key(&process) {
                break process;
            }
        };
        entries.insert(process, CancelEntry { secret, running: None });
        drop(entries);
        Ok(CancelKey { registry: self.clone(), process, secret })
    }

    /// Cancels the statement of a connection. Whether the secret is right.
    pub fn cancel(&self, process: u32, secret: &[u8]) -> bool {
        let entries = self.lock();
        let Some(entry) = entries.get(&process) else { return false };
        let differs = entry.secret.iter().zip(secret).fold(0, |differs, (a, b)| differs | (a ^ b));
        if secret.len() != entry.secret.len() || differs != 0 {
            return false;
        }
        entry.running.iter().for_each(CancelFlag::set);
        true
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u32, CancelEntry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The entry of a connection, removed when it is dropped.
#[derive(Debug)]
pub struct CancelKey {
    registry: Arc<CancelRegistry>,
    /// Number of the connection.
    pub process: u32,
    /// Its secret.
    pub secret: [u8; 4],
}

impl CancelKey {
    /// A statement begins, or has ended.
    pub fn set_running(&self, running: Option<CancelFlag>) {
        if let Some(entry) = self.registry.lock().get_mut(&self.process) {
            entry.running = running;
        }
    }
}

impl Drop for CancelKey {
    fn drop(&mut self) {
        self.registry.lock().remove(&self.process);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_secret_of_a_connection_cancels_its_statement() {
        let registry = Arc::new(CancelRegistry::default());
        let (key, other) = (registry.add().unwrap(), registry.add().unwrap());
        let flag = CancelFlag::default();
        key.set_running(Some(flag.clone()));
        let wrong = key.secret.map(|byte| byte ^ 1);
        for secret in [&wrong[..], &[], &key.secret[..3], &[&key.secret[..], &[0]].concat()] {
            assert!(!registry.cancel(key.process, secret));
        }
        assert!(!registry.cancel(other.process + 1, &key.secret) && !flag.shared().load(Ordering::Relaxed));
        assert!(registry.cancel(key.process, &key.secret) && flag.shared().load(Ordering::Relaxed));
        let process = key.process;
        let secret = key.secret;
        drop(key);
        assert!(!registry.cancel(process, &secret));
    }
}
