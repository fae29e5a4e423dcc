//! Random bytes for keys.

use crate::Error;

/// Returns random bytes of the system, for the key of a handshake or a mask. The author of a payload must not be able to predict its mask, or a page
/// could make a client write bytes of its choice to a proxy (RFC 6455 10.3).
///
/// # Errors
/// If the system has no random numbers.
pub fn random<const N: usize>() -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| Error::NoRandom)?;
    Ok(bytes)
}
