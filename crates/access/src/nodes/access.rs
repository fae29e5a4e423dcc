//! The part of the accounts about nodes.

use super::{EnrolledCertificate, NodeRefusal, NodeRegister, ShownCertificate};
use crate::{
    access::Access,
    moment::Moment,
    secret::Digest,
    store::{Store, StoreError},
};
use oasis_wire::quantity::Nanos;
use std::sync::{Arc, PoisonError, atomic::Ordering};

impl Access {
    /// Returns the enrolled and revoked nodes.
    pub fn nodes(&self) -> Arc<NodeRegister> {
        self.nodes.load_full()
    }

    /// Decides about the certificate of a node.
    ///
    /// # Errors
    /// Why it is refused.
    pub fn check_node(&self, shown: ShownCertificate<'_>) -> Result<(), NodeRefusal> {
        if !self.is_trusted(Moment::now()) {
            return Err(NodeRefusal::Outdated);
        }
        self.nodes.load().check(shown)
    }

    /// Notes that the holder of a certificate is connected.
    pub fn note_node(&self, name: &str, sha256: Digest, wall: Nanos) {
        self.seen_nodes.lock().unwrap_or_else(PoisonError::into_inner).note(name, sha256, wall);
    }

    /// Adds a certificate of a node to the file, if there is a folder, and to the decisions at once.
    ///
    /// # Errors
    /// If the name has another key, or the file cannot be written.
    pub fn enroll(&self, name: &str, certificate: EnrolledCertificate) -> Result<(), StoreError> {
        if let Some(store) = &self.store {
            store.change_nodes(|nodes| nodes.enroll(name, certificate))?;
            return self.reload_nodes().map(drop);
        }
        let _seen = self.seen_nodes_file.lock().unwrap_or_else(PoisonError::into_inner);
        let mut nodes = (**self.nodes.load()).clone();
        nodes.enroll(name, certificate)?;
        self.nodes.store(Arc::new(nodes));
        self.generation.fetch_add(1, Ordering::AcqRel);
        Ok(())
    }

    pub(crate) fn reload_nodes(&self) -> Result<bool, StoreError> {
        let Some(store) = &self.store else { return Ok(false) };
        let mut seen = self.seen_nodes_file.lock().unwrap_or_else(PoisonError::into_inner);
        if Store::fingerprint(&store.nodes_file())? == *seen {
            return Ok(false);
        }
        let (nodes, present) = store.read_nodes_marked()?;
        if present.is_none() {
            // Revoked certificates stay revoked.
            return Err(StoreError::Gone { path: store.nodes_file() });
        }
        *seen = present;
        self.nodes.store(Arc::new(nodes));
        self.generation.fetch_add(1, Ordering::AcqRel);
        Ok(true)
    }
}
