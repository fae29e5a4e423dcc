//! Whether a DAC answers at an address already.

use oasis_client::{Api, Server};
use oasis_site::api;

/// Whether a DAC of OASIS has its page there.
pub fn is_dac(page: &str) -> bool {
    let Ok(url) = format!("http://{page}").parse() else { return false };
    let answer = |api: Api| api.get("/health", &[]);
    api::prompt(&Server { url, ca: None }).and_then(answer).is_ok_and(|health| health["status"].is_string())
}
