//! The versions of the protocol.

/// Versions that begin with a handshake (`initialize`), oldest first.
pub const HANDSHAKE_VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
/// The version whose requests carry all that the server needs to know.
pub const STATELESS_VERSION: &str = "2026-07-28";

/// Returns the version of a handshake: the client's, or else the newest one.
pub fn agreed(requested: Option<&str>) -> &'static str {
    let known = HANDSHAKE_VERSIONS.iter().find(|version| Some(**version) == requested);
    known.copied().unwrap_or(HANDSHAKE_VERSIONS[HANDSHAKE_VERSIONS.len() - 1])
}

/// Returns all versions, oldest first.
pub fn all() -> Vec<&'static str> {
    HANDSHAKE_VERSIONS.into_iter().chain([STATELESS_VERSION]).collect()
}
