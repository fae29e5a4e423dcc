//! Finds TEMs in the local network by multicast DNS (RFC 6762, RFC 6763): `oasis tem --mdns` announces them.
//!
//! Any host in the network can announce anything. So an announcement yields an address at most, which is then asked like one that was typed, with TLS
//! verified if it has any. Nothing here says whether a TEM lives.

use crate::{ClientError, DacAddress};
use mdns_sd::{IfKind, ResolvedService, ServiceDaemon, ServiceEvent};
use std::{
    net::IpAddr,
    time::{Duration, Instant},
};

/// Name of the service.
const SERVICE: &str = "_oasis-tem._tcp.local.";
/// Time until the first answer.
const FIRST_ANSWER_TIMEOUT: Duration = Duration::from_secs(3);
/// Time for more answers after the first one.
const MORE: Duration = Duration::from_millis(500);
/// Most addresses that are found.
const MAX_ADDRESSES: usize = 16;
/// Most announcements that are read.
const MOST_EVENTS: usize = 1_000;
/// Longest address, bytes.
const LONGEST_URL: usize = 300;

/// Returns the addresses of the TEMs that announce themselves, all or those of this name.
///
/// # Errors
/// If there is none, or mDNS cannot be used.
pub fn discover(name: Option<&str>) -> Result<Vec<DacAddress>, ClientError> {
    discover_on(name, None)
}

/// The same on these interfaces alone, or on all.
fn discover_on(name: Option<&str>, interfaces: Option<IfKind>) -> Result<Vec<DacAddress>, ClientError> {
    let failed = |error: mdns_sd::Error| {
        ClientError::Discovery(format!(
            "mDNS cannot be used on this host ({error}): name the TEM by its address (--tem http://HOST:PORT)"
        ))
    };
    let daemon = ServiceDaemon::new().map_err(failed)?;
    let found = browse(&daemon, name, interfaces).map_err(failed);
    // Its thread ends by itself; an error means that it has ended.
    let _ = daemon.shutdown();
    let found = found?;
    if found.is_empty() {
        let named = name.map(|name| format!(" of the name {name:?}")).unwrap_or_default();
        return Err(ClientError::Discovery(format!(
            "no TEM{named} was found by mDNS within {} s: start one with `oasis tem --mdns` in the same network, or name it by its address \
             (--tem http://HOST:PORT)",
            FIRST_ANSWER_TIMEOUT.as_secs()
        )));
    }
    Ok(found)
}

fn browse(
    daemon: &ServiceDaemon,
    name: Option<&str>,
    interfaces: Option<IfKind>,
) -> Result<Vec<DacAddress>, mdns_sd::Error> {
    match interfaces {
        Some(interfaces) => {
            daemon.disable_interface(IfKind::All)?;
            daemon.enable_interface(interfaces)?;
        }
        // A TEM on this host that listens on loopback announces itself there.
        None => daemon.enable_interface(IfKind::LoopbackV4)?,
    }
    let events = daemon.browse(SERVICE)?;
    let mut deadline = Instant::now() + FIRST_ANSWER_TIMEOUT;
    let mut found: Vec<DacAddress> = Vec::new();
    for _ in 0..MOST_EVENTS {
        let Ok(event) = events.recv_deadline(deadline) else { break };
        let ServiceEvent::ServiceResolved(service) = event else { continue };
        let Some(address) = address(&Announcement::of(&service), name) else {
            tracing::debug!(name = ?service.get_fullname(), "an announcement of a TEM is ignored");
            continue;
        };
        if !found.contains(&address) {
            found.push(address);
        }
        if found.len() == MAX_ADDRESSES {
            break;
        }
        deadline = deadline.min(Instant::now() + MORE);
    }
    Ok(found)
}

/// Announcement of a service.
#[derive(Debug, Clone, Default)]
struct Announcement {
    /// The first label of its full name.
    name: String,
    /// Address of its page, if it says that.
    url: Option<String>,
    addresses: Vec<IpAddr>,
    port: u16,
}

impl Announcement {
    fn of(service: &ResolvedService) -> Self {
        let full = service.get_fullname();
        Self {
            name: full.strip_suffix(SERVICE).unwrap_or(full).trim_end_matches('.').into(),
            url: service.get_property_val_str("url").map(str::to_owned),
            addresses: service.get_addresses().iter().map(|address| address.to_ip_addr()).collect(),
            port: service.get_port(),
        }
    }
}

/// Returns the address of the page that an announcement means, if it is one of this name.
fn address(announced: &Announcement, name: Option<&str>) -> Option<DacAddress> {
    if name.is_some_and(|name| !name.eq_ignore_ascii_case(&announced.name)) {
        return None;
    }
    let url = match &announced.url {
        Some(url) => url.clone(),
        None => {
            // A link-local address of IPv6 needs the interface, which no URL has. RFC 6874 is withdrawn from browsers.
            let is_usable = |ip: &&IpAddr| match ip {
                IpAddr::V4(ip) => !ip.is_unspecified() && !ip.is_multicast(),
                IpAddr::V6(ip) => !ip.is_unspecified() && !ip.is_multicast() && !ip.is_unicast_link_local(),
            };
            let ip = announced.addresses.iter().filter(is_usable).min_by_key(|ip| (ip.is_ipv6(), **ip))?;
            format!("http://{}", std::net::SocketAddr::new(*ip, announced.port))
        }
    };
    let is_plain =
        url.len() <= LONGEST_URL && url.bytes().all(|byte| byte.is_ascii_graphic() && byte != b',');
    let is_page = ["http://", "https://"].iter().any(|scheme| url.starts_with(scheme));
    if is_plain && is_page { url.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mdns_sd::ServiceInfo;

    fn announced(url: Option<&str>, addresses: &[&str]) -> Announcement {
        let addresses = addresses.iter().map(|text| text.parse().unwrap()).collect();
        Announcement { name: "hall".into(), url: url.map(str::to_owned), addresses, port: 7000 }
    }

    #[test]
    fn an_announcement_yields_an_address_of_a_page_or_nothing() {
        let of = |announcement: &Announcement| address(announcement, None).map(|address| address.to_string());
        let with_url = |url: &str| of(&announced(Some(url), &["192.0.2.7"]));
        assert_eq!(with_url("https://tem.example.org:7000").as_deref(), Some("https://tem.example.org:7000"));
        for hostile in [
            "",
            "ws://a/ws",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "http://",
            "http://a:1\u{1b}[2J",
            "http://a b",
            "http://a@b:1",
            "http://a:1,http://b:2",
            "mdns:",
            &format!("http://{}:1", "x".repeat(300)),
        ] {
            assert_eq!(with_url(hostile), None, "{hostile:?}");
        }
        let by_address = |addresses: &[&str]| of(&announced(None, addresses));
        assert_eq!(
            by_address(&["fe80::1", "2001:db8::7", "192.0.2.7"]).as_deref(),
            Some("http://192.0.2.7:7000")
        );
        assert_eq!(by_address(&["fe80::1", "2001:db8::7"]).as_deref(), Some("http://[2001:db8::7]:7000"));
        for useless in [&[][..], &["0.0.0.0"], &["fe80::1"], &["224.0.0.1"]] {
            assert_eq!(by_address(useless), None, "{useless:?}");
        }
        let named = |name| address(&announced(None, &["192.0.2.7"]), Some(name)).is_some();
        assert_eq!((named("Hall"), named("hall-2")), (true, false));
    }

    #[test]
    fn a_tem_that_announces_itself_is_found_and_others_are_not() {
        let Some(announcer) = announce("oasis-client-test", "http://127.0.0.1:7999") else { return };
        let found = discover_on(Some("oasis-client-test"), Some(IfKind::LoopbackV4)).unwrap();
        assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), ["http://127.0.0.1:7999"]);
        let none = discover_on(Some("somebody-else"), Some(IfKind::LoopbackV4)).unwrap_err().to_string();
        assert!(none.contains("somebody-else") && none.contains("oasis tem --mdns"), "{none}");
        announcer.shutdown().unwrap();
    }

    /// Announces a TEM on the loopback interface; none on a host without multicast.
    fn announce(name: &str, url: &str) -> Option<ServiceDaemon> {
        let daemon = ServiceDaemon::new().ok()?;
        daemon.disable_interface(IfKind::All).ok()?;
        daemon.enable_interface(IfKind::LoopbackV4).ok()?;
        let service = ServiceInfo::new(
            SERVICE,
            name,
            "oasis-client-test.local.",
            "127.0.0.1",
            7999,
            &[("url", url)][..],
        );
        daemon.register(service.ok()?).ok()?;
        Some(daemon)
    }
}
