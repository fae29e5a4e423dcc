//! Several machines: a network namespace for each, on one switch. Their kernels drop packets.

use anyhow::{Context, bail};
use std::{
    io::Write,
    net::Ipv4Addr,
    process::{self, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
};

/// Networks of this process so far.
static MADE: AtomicU32 = AtomicU32::new(0);
/// Link-local networks of 256 addresses (RFC 3927) that are chosen from; the lower half is for pairs of hosts.
const FIRST_SUBNET: u32 = 128;
const SUBNETS: u32 = 126;

/// Packet loss between two machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// All are lost, both ways.
    All,
    /// All to the first machine are lost.
    OneWay,
    /// This many of 100 are lost, both ways.
    Some(u32),
    /// All beyond this many KiB a second to the first machine are lost: TCP slows down to that.
    Slow(u32),
}

/// A machine of a network.
#[derive(Debug, Clone)]
pub struct Machine {
    /// For `ip netns exec`.
    pub namespace: String,
    /// Its address.
    pub address: Ipv4Addr,
}

/// Machines on a switch, which this process is connected to as well. They go when it is dropped.
#[derive(Debug)]
pub struct Network {
    name: String,
    prefix: u32,
    machines: Vec<Machine>,
}

impl Network {
    /// Creates a switch. Fails without root, `ip` (iproute2) or `nft` (nftables).
    pub fn new() -> anyhow::Result<Self> {
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        // An interface has 15 characters at most.
        let name = format!("oasis{}s{}", process::id(), number % 100);
        let subnet = FIRST_SUBNET + (process::id() * 8 + number) % SUBNETS;
        let prefix = u32::from(Ipv4Addr::new(169, 254, 0, 0)) + subnet * 256;
        run(&["netns", "add", &name])?;
        // From here on dropping it removes what there is.
        let network = Self { name, prefix, machines: Vec::new() };
        let (cable, switch) = (network.cable(), &network.name);
        run(&["-n", switch, "link", "add", "switch", "type", "bridge"])?;
        run(&["-n", switch, "link", "set", "switch", "up"])?;
        run(&["link", "add", &cable, "type", "veth", "peer", "name", "lab", "netns", switch])?;
        run(&["addr", "add", &format!("{}/24", network.address(1)), "dev", &cable])?;
        run(&["link", "set", &cable, "up"])?;
        network.plug("lab")?;
        Ok(network)
    }

    /// Connects another machine.
    pub fn machine(&mut self) -> anyhow::Result<Machine> {
        let number = self.machines.len() as u32;
        let machine =
            Machine { namespace: format!("{}m{number}", self.name), address: self.address(number + 2) };
        let (namespace, port) = (machine.namespace.clone(), format!("port{number}"));
        run(&["netns", "add", &namespace])?;
        self.machines.push(machine.clone());
        let ends = ["link", "add", "eth0", "type", "veth", "peer", "name", &port, "netns", &self.name];
        run(&[&["-n", &namespace], &ends[..]].concat())?;
        let address = format!("{}/24", machine.address);
        run(&["-n", &namespace, "addr", "add", &address, "dev", "eth0"])?;
        run(&["-n", &namespace, "link", "set", "eth0", "up"])?;
        run(&["-n", &namespace, "link", "set", "lo", "up"])?;
        self.plug(&port)?;
        machine.pass()?;
        Ok(machine)
    }

    fn plug(&self, port: &str) -> anyhow::Result<()> {
        run(&["-n", &self.name, "link", "set", port, "master", "switch", "up"])
    }

    fn cable(&self) -> String {
        format!("{}l", self.name)
    }

    fn address(&self, number: u32) -> Ipv4Addr {
        Ipv4Addr::from(self.prefix + number)
    }
}

impl Machine {
    /// Loses packets between this machine and others.
    pub fn lose(&self, others: &[&Self], loss: Loss) -> anyhow::Result<()> {
        let (mut input, mut output) = (String::new(), String::new());
        for Self { address, .. } in others {
            let (from, to) = (format!("ip saddr {address}"), format!("ip daddr {address}"));
            match loss {
                Loss::All => {
                    input += &format!("{from} drop; ");
                    output += &format!("{to} drop; ");
                }
                Loss::OneWay => input += &format!("{from} drop; "),
                Loss::Some(percent) => {
                    input += &format!("{from} numgen random mod 100 < {percent} drop; ");
                    output += &format!("{to} numgen random mod 100 < {percent} drop; ");
                }
                Loss::Slow(rate) => input += &format!("{from} limit rate over {rate} kbytes/second drop; "),
            }
        }
        self.set_rules(&format!(
            "flush ruleset\nadd table inet oasis\n\
             add chain inet oasis input {{ type filter hook input priority 0; }}\n\
             add chain inet oasis output {{ type filter hook output priority 0; }}\n\
             {}{}",
            rules("input", &input),
            rules("output", &output)
        ))
    }

    /// Everything passes again.
    pub fn pass(&self) -> anyhow::Result<()> {
        self.set_rules("flush ruleset\n")
    }

    /// A command on this machine. It replaces itself with the program: signals reach it.
    pub fn command(&self) -> Command {
        let mut ip = Command::new("ip");
        ip.args(["netns", "exec", &self.namespace]);
        ip
    }

    fn set_rules(&self, rules: &str) -> anyhow::Result<()> {
        let mut nft = self.command();
        nft.args(["nft", "-f", "-"]).stdin(Stdio::piped()).stderr(Stdio::null());
        let mut nft = nft.spawn().context("cannot run ip")?;
        nft.stdin.take().context("nft without input")?.write_all(rules.as_bytes())?;
        let status = nft.wait()?;
        if !status.success() {
            bail!("nft failed in a network namespace ({status}): is nftables installed?");
        }
        Ok(())
    }
}

fn rules(chain: &str, all: &str) -> String {
    let each = all.split_terminator("; ");
    each.map(|rule| format!("add rule inet oasis {chain} {rule}\n")).collect()
}

impl Drop for Network {
    fn drop(&mut self) {
        // Cables go with one of their ends.
        let _ = run(&["link", "del", &self.cable()]);
        for machine in &self.machines {
            let _ = run(&["netns", "del", &machine.namespace]);
        }
        let _ = run(&["netns", "del", &self.name]);
    }
}

fn run(arguments: &[&str]) -> anyhow::Result<()> {
    let output = Command::new("ip").args(arguments).output().context("cannot run ip")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("ip {}: {}", arguments.join(" "), said.trim());
    }
    Ok(())
}
