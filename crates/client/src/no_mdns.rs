//! In place of mDNS, for programs that are built without it.

use crate::{ClientError, DacAddress};

/// Finds nothing.
///
/// # Errors
/// Always.
pub fn discover(_name: Option<&str>) -> Result<Vec<DacAddress>, ClientError> {
    let what =
        "this program was built without mDNS (feature mdns): name the TEM by its address (http://HOST:PORT)";
    Err(ClientError::Discovery(what.into()))
}
