//! Bounds of what the peers of a source can create.

/// Bounds of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceLimits {
    /// Most nodes.
    pub max_nodes: usize,
    /// Most instances of all nodes together.
    pub max_instances: usize,
    /// Most fields of an instance.
    pub max_fields: usize,
}

impl Default for SourceLimits {
    fn default() -> Self {
        Self { max_nodes: 1_000, max_instances: 10_000, max_fields: 1_000 }
    }
}
