//! The API of a DAC, for commands: with the token of this host if the DAC asks for one.

use super::host_token;
use oasis_client::{Api, ClientError, Server};
use std::time::Duration;

/// Time for a DAC to accept a connection, and to begin its answer. A stopped process does not: the system accepts for it.
pub const RESPONSE_TIMEOUT: Duration = Duration::from_secs(3);

/// The API of the DAC at this address.
///
/// # Errors
/// If the authorities of an encrypted connection cannot be read, or the token.
pub fn at(server: &Server) -> Result<Api, ClientError> {
    within(server, None)
}

/// The same, for requests that end after this time.
///
/// # Errors
/// As [`at`].
pub fn within(server: &Server, timeout: Option<Duration>) -> Result<Api, ClientError> {
    Ok(Api::within(server, timeout)?.with_host_token(Some(host_token::of)))
}

/// The same, for a DAC that answers at once if it answers at all.
///
/// # Errors
/// As [`at`].
pub fn prompt(server: &Server) -> Result<Api, ClientError> {
    Ok(Api::prompt(server, RESPONSE_TIMEOUT)?.with_host_token(Some(host_token::of)))
}
