//! Which addresses belong to the public internet. A webhook to any other one must be allowed: it could reach what only this host can reach.

use ipnet::{Ipv4Net, Ipv6Net};
use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::LazyLock,
};
use ureq::{
    config::Config,
    http::Uri,
    unversioned::{
        resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver},
        transport::NextTimeout,
    },
};

/// RFC 6890 and the registry of special IPv4 addresses: not reachable from elsewhere, or never a single host.
const SPECIAL_V4: [&str; 15] = [
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
];

/// Only `2000::/3` is assigned for the public; these parts of it are special.
const SPECIAL_V6: [&str; 4] = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"];

/// RFC 6052: an IPv4 address in the last 32 bits.
const TRANSLATED: &str = "64:ff9b::/96";

static NETWORKS: LazyLock<(Vec<Ipv4Net>, Vec<Ipv6Net>, Option<Ipv6Net>)> = LazyLock::new(|| {
    let fours = SPECIAL_V4.iter().filter_map(|network| network.parse().ok()).collect();
    let sixes = SPECIAL_V6.iter().filter_map(|network| network.parse().ok()).collect();
    (fours, sixes, TRANSLATED.parse().ok())
});

/// Whether an address belongs to the public internet.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(four) => is_public_v4(four),
        IpAddr::V6(six) => is_public_v6(six),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    !NETWORKS.0.iter().any(|network| network.contains(&address))
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    if let Some(four) = address.to_ipv4_mapped() {
        return is_public_v4(four);
    }
    let bytes = address.octets();
    if NETWORKS.2.is_some_and(|network| network.contains(&address)) {
        let [.., a, b, c, d] = bytes;
        return is_public_v4(Ipv4Addr::new(a, b, c, d));
    }
    bytes[0] & 0xe0 == 0x20 && !NETWORKS.1.iter().any(|network| network.contains(&address))
}

/// A name that leads nowhere else.
#[derive(Debug, thiserror::Error)]
#[error("{host} is {address}, which is no public address: set private = true if messages may go there")]
struct Private {
    host: String,
    address: IpAddr,
}

/// Finds public addresses only. The connection goes to exactly the addresses that were checked.
#[derive(Debug, Default)]
pub struct PublicResolver(DefaultResolver);

impl Resolver for PublicResolver {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let found = self.0.resolve(uri, config, timeout)?;
        let mut public = self.empty();
        found.iter().filter(|address| is_public(address.ip())).for_each(|address| public.push(*address));
        match (public.is_empty(), found.first()) {
            (true, Some(address)) => Err(refused(uri, address)),
            _ => Ok(public),
        }
    }
}

fn refused(uri: &Uri, address: &SocketAddr) -> ureq::Error {
    let host = uri.host().unwrap_or_default().to_owned();
    ureq::Error::Other(Box::new(Private { host, address: address.ip() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_networks_are_parsed() {
        assert_eq!(NETWORKS.0.len(), SPECIAL_V4.len());
        assert_eq!(NETWORKS.1.len(), SPECIAL_V6.len());
        assert!(NETWORKS.2.is_some());
    }

    #[test]
    fn addresses_of_this_host_and_of_local_networks_are_not_public() {
        for private in [
            "127.0.0.1",
            "127.8.8.8",
            "0.0.0.0",
            "10.0.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "255.255.255.255",
            "224.0.0.1",
            "::1",
            "::",
            "::ffff:127.0.0.1",
            "::ffff:192.168.0.1",
            "::127.0.0.1",
            "fe80::1",
            "fd00::1",
            "fec0::1",
            "ff02::1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "2001::1",
            "2001:db8::1",
        ] {
            assert!(!is_public(private.parse().unwrap()), "{private}");
        }
        for public in ["8.8.8.8", "172.32.0.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
    }
}
