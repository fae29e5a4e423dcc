//! Waits for the DACs of `oasis node`.

use oasis_client::NodeDacs;
use oasis_ei_node::DacAddresses;
use std::time::Duration;

/// Pause before the TEMs are asked again.
const TEM_RETRY_DELAY: Duration = Duration::from_secs(1);

/// Returns the data channels. Waits for a TEM and a DAC: on a host that starts, the node may be first.
///
/// # Errors
/// If waiting would not help.
pub async fn find(dacs: &NodeDacs) -> anyhow::Result<DacAddresses> {
    let mut is_first = true;
    loop {
        let mut dacs = dacs.clone();
        match tokio::task::spawn_blocking(move || dacs.find()).await? {
            Ok(channels) => return Ok(channels.iter().collect()),
            Err(reason) if reason.is_final() => return Err(reason.into()),
            Err(reason) if is_first => tracing::warn!("no DAC for this node yet: {reason}; trying again"),
            Err(reason) => tracing::debug!("no DAC for this node yet: {reason}"),
        }
        is_first = false;
        tokio::time::sleep(TEM_RETRY_DELAY).await;
    }
}
