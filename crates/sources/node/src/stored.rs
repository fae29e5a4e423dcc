//! Waits for the archive before a request is answered.

use oasis_handler::StoredSamples;
use std::time::Duration;

/// Longest wait for the archive; a client gives up after 5 to 10 s.
const STORE_TIMEOUT: Duration = Duration::from_secs(4);

/// Waits until all samples before are stored. Called on a thread of a runtime that may wait.
///
/// # Errors
/// If the archive fails, or takes longer than 4 s.
pub fn wait_until_stored(archive: &dyn StoredSamples) -> Result<(), String> {
    let runtime = tokio::runtime::Handle::try_current().map_err(|error| error.to_string())?;
    match runtime.block_on(tokio::time::timeout(STORE_TIMEOUT, archive.flush())) {
        Ok(stored) => stored.map_err(|why| why.to_string()),
        Err(_) => Err(format!("the archive takes longer than {} s", STORE_TIMEOUT.as_secs())),
    }
}
