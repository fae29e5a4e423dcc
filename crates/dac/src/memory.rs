//! Accounts of memory that peers can cause: each has a limit, a share of `memory_bytes`.
//!
//! Topic logs and schemas have accounts of their own kind ([`LogBudget`](crate::LogBudget), the registry), because they evict. Here is what can only be refused:
//! messages that are not complete, and answers that a client does not read.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// Bytes in use for one purpose, with their limit.
#[derive(Debug)]
pub struct MemoryAccount {
    limit: usize,
    used: AtomicUsize,
}

/// The bytes of one holder, given back when it is dropped.
#[derive(Debug)]
pub struct HeldMemory {
    account: Arc<MemoryAccount>,
    bytes: usize,
}

impl MemoryAccount {
    /// Creates an account with this limit in bytes.
    pub fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self { limit, used: AtomicUsize::new(0) })
    }

    /// Returns the bytes that all holders use together.
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// Returns a holder of no bytes yet.
    pub fn hold(self: &Arc<Self>) -> HeldMemory {
        HeldMemory { account: self.clone(), bytes: 0 }
    }
}

impl HeldMemory {
    /// Sets how many bytes the holder uses. Returns whether all holders together keep within the limit.
    pub fn set(&mut self, bytes: usize) -> bool {
        // A smaller number wraps correctly.
        let change = bytes.wrapping_sub(self.bytes);
        self.bytes = bytes;
        self.account.used.fetch_add(change, Ordering::Relaxed).wrapping_add(change) <= self.account.limit
    }

    /// Adds bytes. Returns whether all holders together keep within the limit.
    pub fn add(&mut self, bytes: usize) -> bool {
        self.set(self.bytes.saturating_add(bytes))
    }
}

impl Drop for HeldMemory {
    fn drop(&mut self) {
        self.account.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holders_share_a_limit_and_give_back_what_they_held() {
        let account = MemoryAccount::new(100);
        let (mut one, mut other) = (account.hold(), account.hold());
        assert!(one.set(60) && other.set(40));
        assert!(!other.set(41) && other.set(10));
        assert!(one.add(30) && !one.add(1));
        assert_eq!(account.used(), 101);
        drop(one);
        assert_eq!(account.used(), 10);
    }
}
