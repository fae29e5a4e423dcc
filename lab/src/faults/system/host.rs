//! Another host: a network namespace with a cable to this one, whose kernel drops packets.

use super::link::Way;
use anyhow::{Context, bail};
use std::{
    io::Write,
    net::Ipv4Addr,
    process::{self, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
};

/// Hosts of this process so far.
static MADE: AtomicU32 = AtomicU32::new(0);

/// Networks of four link-local addresses (RFC 3927) that hosts choose from.
const NETWORKS: u32 = 254 * 64;

/// A host with one cable. It goes when it is dropped.
#[derive(Debug)]
pub struct Host {
    /// The namespace, and the cable's end in it.
    name: String,
    here: Ipv4Addr,
}

impl Host {
    /// Connects a new host. Fails without root, `ip` (iproute2) or `nft` (nftables).
    pub fn connect() -> anyhow::Result<Self> {
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        // An interface has 15 characters at most.
        let name = format!("oasis{}-{}", process::id(), number % 100);
        let base = u32::from(Ipv4Addr::new(169, 254, 1, 0)) + (process::id() * 8 + number) % NETWORKS * 4;
        let (here, there) = (Ipv4Addr::from(base + 1), Ipv4Addr::from(base + 2));
        run("ip", &["netns", "add", &name])?;
        // From here on dropping it removes what there is.
        let host = Self { name, here };
        let (cable, inside) = (format!("{}h", host.name), &host.name);
        run("ip", &["link", "add", &cable, "type", "veth", "peer", "name", inside, "netns", inside])?;
        run("ip", &["addr", "add", &format!("{here}/30"), "dev", &cable])?;
        run("ip", &["link", "set", &cable, "up"])?;
        run("ip", &["-n", inside, "addr", "add", &format!("{there}/30"), "dev", inside])?;
        run("ip", &["-n", inside, "link", "set", inside, "up"])?;
        host.pass()?;
        Ok(host)
    }

    /// Returns the address of this host for processes of that one.
    pub fn address_of_this(&self) -> Ipv4Addr {
        self.here
    }

    /// The namespace, for `ip netns exec`.
    pub fn namespace(&self) -> &str {
        &self.name
    }

    /// Drops every packet in these directions: up is from that host to this one.
    pub fn drop_packets(&self, ways: &[Way]) -> anyhow::Result<()> {
        let mut rules = String::from("flush ruleset\nadd table inet oasis\n");
        for way in ways {
            let hook = if *way == Way::Up { "output" } else { "input" };
            rules += &format!(
                "add chain inet oasis {hook} {{ type filter hook {hook} priority 0; policy drop; }}\n"
            );
        }
        self.set_rules(&rules)
    }

    /// Everything passes again.
    pub fn pass(&self) -> anyhow::Result<()> {
        self.set_rules("flush ruleset\n")
    }

    fn set_rules(&self, rules: &str) -> anyhow::Result<()> {
        let mut nft = Command::new("ip");
        nft.args(["netns", "exec", &self.name, "nft", "-f", "-"]).stdin(Stdio::piped());
        let mut nft = nft.stderr(Stdio::null()).spawn().context("cannot run ip")?;
        nft.stdin.take().context("nft without input")?.write_all(rules.as_bytes())?;
        let status = nft.wait()?;
        if !status.success() {
            bail!("nft failed in a network namespace ({status}): is nftables installed?");
        }
        Ok(())
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // The cable goes with one of its ends.
        let _ = run("ip", &["link", "del", &format!("{}h", self.name)]);
        let _ = run("ip", &["netns", "del", &self.name]);
    }
}

fn run(program: &str, arguments: &[&str]) -> anyhow::Result<()> {
    let output = Command::new(program).args(arguments).output();
    let output = output.with_context(|| format!("cannot run {program}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{program} {}: {}", arguments.join(" "), said.trim());
    }
    Ok(())
}
