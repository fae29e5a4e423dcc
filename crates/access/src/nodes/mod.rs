//! Nodes: the certificates that they were enrolled with, those that were revoked, and when each node was last there.

mod access;
mod register;
mod seen;
mod store;

pub use register::{
    EnrolledCertificate, EnrolledNode, NodeChangeError, NodeRefusal, NodeRegister, ShownCertificate,
};
pub use seen::{SeenNode, read as read_seen_nodes};
pub(crate) use seen::{SeenNodes, write as write_seen};
pub use store::NODES_FILE;
