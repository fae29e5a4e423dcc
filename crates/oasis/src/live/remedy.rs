//! Explains the error of a node whose address or channel is not that of its DAC.

use oasis_channel::Failure;
use oasis_client::Server;
use oasis_site::api;
use serde_json::Value;
use tokio::task::spawn_blocking;

/// Refusals that another attempt does not change: the port of a page, and a DAC without the channel.
const PERMANENT: [&str; 2] = ["frame_http", "unsupported"];

pub fn is_permanent(code: &str) -> bool {
    PERMANENT.contains(&code)
}

/// Returns the error of a node that must be started in another way. At the port of a page it names that of the data
/// channel, as the DAC reports it.
pub async fn explained(refusal: Failure, dac: &str) -> anyhow::Error {
    let found = match refusal.code == "frame_http" {
        true => spawn_blocking({
            let dac = dac.to_owned();
            move || channel_beside(&dac)
        })
        .await
        .ok()
        .flatten(),
        false => None,
    };
    match found {
        Some(channel) => anyhow::anyhow!(
            "{dac} is the port of a page; the data channel of this DAC is {channel}: use --dac {channel}, or --tem http://{dac}"
        ),
        None => anyhow::anyhow!("{dac}: {}", refusal.message),
    }
}

/// The data channel of the DAC whose page is at this address: its port, at the host that the user has named.
fn channel_beside(page: &str) -> Option<String> {
    let server = Server { url: format!("http://{page}").parse().ok()?, ca: None };
    let list = api::prompt(&server).ok()?.get("/tem", &[]).ok()?;
    channel_in(&list, page)
}

fn channel_in(list: &Value, page: &str) -> Option<String> {
    let own = list["dacs"].as_array()?.iter().find(|dac| dac["is_tem"] == true)?;
    let (_, port) = own["channel"].as_str()?.rsplit_once(':')?;
    let port: u16 = port.parse().ok()?;
    let (host, _) = page.rsplit_once(':')?;
    Some(format!("{host}:{port}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_port_of_the_data_channel_is_taken_from_the_list_and_the_host_from_the_user() {
        let list = |channel: &str| json!({"dacs": [{"is_tem": false, "channel": "x:1"}, {"is_tem": true, "channel": channel}]});
        let found = |channel: &str, page: &str| channel_in(&list(channel), page);
        assert_eq!(found("0.0.0.0:7071", "plant:7070"), Some("plant:7071".into()));
        assert_eq!(found("tls://[::]:7071", "[::1]:7070"), Some("[::1]:7071".into()));
        assert_eq!(found("evil\u{1b}[0m:port", "plant:7070"), None);
        assert_eq!(channel_in(&json!({"dacs": []}), "plant:7070"), None);
    }
}
