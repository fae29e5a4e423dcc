//! Bad networks between nodes and DAC.

use super::Scenario;
use crate::faults::{
    system::{
        host::Host,
        link::{Link, Way},
    },
    waiting::{RECOVERY_TIMEOUT, until},
    world::World,
};
use std::{thread, time::Duration};

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "partition-5s",
        about: "nothing passes between node and DAC for 5 s",
        is_quick: true,
        run: |world| partition(world, 5.0, &[Way::Up, Way::Down]),
    },
    Scenario {
        name: "partition-60s",
        about: "nothing passes between node and DAC for 60 s",
        is_quick: true,
        run: |world| partition(world, 60.0, &[Way::Up, Way::Down]),
    },
    Scenario {
        name: "partition-600s",
        about: "nothing passes between node and DAC for 600 s",
        is_quick: false,
        run: |world| partition(world, 600.0, &[Way::Up, Way::Down]),
    },
    Scenario {
        name: "partition-up",
        about: "nothing passes from node to DAC for 60 s",
        is_quick: true,
        run: |world| partition(world, 60.0, &[Way::Up]),
    },
    Scenario {
        name: "partition-down",
        about: "nothing passes from DAC to node for 60 s",
        is_quick: true,
        run: |world| partition(world, 60.0, &[Way::Down]),
    },
    Scenario {
        name: "dropped-packets-60s",
        about: "the kernel drops all packets between two hosts for 60 s (network namespaces)",
        is_quick: true,
        run: |world| dropped_packets(world, 60.0, &[Way::Up, Way::Down]),
    },
    Scenario {
        name: "dropped-packets-600s",
        about: "the kernel drops all packets between two hosts for 600 s",
        is_quick: false,
        run: |world| dropped_packets(world, 600.0, &[Way::Up, Way::Down]),
    },
    Scenario {
        name: "dropped-packets-up",
        about: "the kernel drops what a node sends to the DAC for 60 s",
        is_quick: false,
        run: |world| dropped_packets(world, 60.0, &[Way::Up]),
    },
    Scenario {
        name: "dropped-packets-down",
        about: "the kernel drops what the DAC sends to a node for 60 s",
        is_quick: false,
        run: |world| dropped_packets(world, 60.0, &[Way::Down]),
    },
    Scenario {
        name: "cut-frames",
        about: "connections are cut in the middle of frames, 100 times",
        is_quick: true,
        run: cut_frames,
    },
    Scenario {
        name: "slow-link",
        about: "10 KiB/s between node and DAC for 60 s",
        is_quick: true,
        run: slow_link,
    },
    Scenario {
        name: "late-link",
        about: "400 ms each way between node and DAC for 60 s",
        is_quick: false,
        run: late_link,
    },
    Scenario {
        name: "lost-datagrams",
        about: "30 % of the datagrams are lost for 60 s",
        is_quick: true,
        run: lost_datagrams,
    },
];

/// A DAC, a node with a file spool, and the link between them.
fn linked(world: &mut World, is_udp: bool) -> anyhow::Result<Link> {
    world.settings.udp = is_udp;
    world.start_dac()?;
    let link = Link::to(&world.settings.channel, world.random.clone())?;
    let mut settings = world.spooling_settings("plant");
    (settings.dac, settings.udp) = (link.address(), is_udp);
    world.start_node(settings)?;
    world.settle()?;
    Ok(link)
}

fn partition(world: &mut World, seconds: f64, ways: &[Way]) -> anyhow::Result<()> {
    let link = linked(world, false)?;
    thread::sleep(world.random.millis(0..500));
    ways.iter().for_each(|way| link.stall(*way));
    thread::sleep(world.scaled(seconds));
    // The DAC itself works, whatever happens to a node.
    world.expect_ready()?;
    link.mend();
    world.recover()?;
    world.finish_nodes()
}

/// As [`partition`], by two hosts whose kernels send again what was not acknowledged, later and later.
fn dropped_packets(world: &mut World, seconds: f64, ways: &[Way]) -> anyhow::Result<()> {
    let host = match Host::connect() {
        Ok(host) => host,
        Err(error) => {
            world.outcome.skipped = Some(format!("{error:#}"));
            return Ok(());
        }
    };
    world.settings.channel = format!("{}:0", host.address_of_this());
    world.node_namespace = Some(host.namespace().into());
    world.start_pair()?;
    thread::sleep(world.random.millis(0..500));
    host.drop_packets(ways)?;
    thread::sleep(world.scaled(seconds));
    world.expect_ready()?;
    host.pass()?;
    world.recover()?;
    world.finish_nodes()
}

fn cut_frames(world: &mut World) -> anyhow::Result<()> {
    let link = linked(world, false)?;
    for _ in 0..((100.0 * world.scale) as u32).max(5) {
        link.cut_after(world.random.within(1..20_000));
        until("the connection is cut", RECOVERY_TIMEOUT, || link.has_cut().then_some(()).ok_or("open"))?;
        link.mend();
        world.recover()?;
    }
    world.finish_nodes()
}

fn slow_link(world: &mut World) -> anyhow::Result<()> {
    let link = linked(world, false)?;
    link.throttle(10 * 1024);
    thread::sleep(world.scaled(60.0));
    world.expect_ready()?;
    link.mend();
    world.recover()?;
    world.finish_nodes()
}

fn late_link(world: &mut World) -> anyhow::Result<()> {
    let link = linked(world, false)?;
    link.delay(Duration::from_millis(400));
    thread::sleep(world.scaled(60.0));
    world.expect_ready()?;
    link.mend();
    world.recover()?;
    world.finish_nodes()
}

fn lost_datagrams(world: &mut World) -> anyhow::Result<()> {
    world.outcome.justified.push("network");
    let link = linked(world, true)?;
    link.drop_datagrams(300);
    thread::sleep(world.scaled(60.0));
    link.mend();
    world.recover()?;
    world.finish_nodes()?;
    if link.dropped() == 0 {
        world.outcome.failures.push("no datagram passed the link".into());
    }
    Ok(())
}
