//! Waits for the archive before samples are acknowledged.

use oasis_handler::StoredSamples;
use std::time::Duration;

/// Longest wait for the archive; a client gives up after 5 to 10 s.
const STORE_TIMEOUT: Duration = Duration::from_secs(4);

/// Completes when all samples before are stored.
///
/// # Errors
/// If the archive fails, or takes longer than 4 s.
pub async fn stored(archive: &dyn StoredSamples) -> Result<(), String> {
    match tokio::time::timeout(STORE_TIMEOUT, archive.flush()).await {
        Ok(stored) => stored.map_err(|why| why.to_string()),
        Err(_) => Err(format!("the archive takes longer than {} s", STORE_TIMEOUT.as_secs())),
    }
}

/// Waits until all samples before are stored. Called on a thread of a runtime that may wait.
///
/// # Errors
/// If the archive fails, or takes longer than 4 s.
pub fn wait_until_stored(archive: &dyn StoredSamples) -> Result<(), String> {
    let runtime = tokio::runtime::Handle::try_current().map_err(|error| error.to_string())?;
    runtime.block_on(stored(archive))
}
