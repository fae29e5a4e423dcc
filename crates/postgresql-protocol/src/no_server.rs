//! Builds without the server.

/// Serves SQL over the PostgreSQL protocol, in other builds.
#[derive(Debug)]
pub enum SqlServer {}
