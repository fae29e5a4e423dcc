//! Several machines: DACs that relay each other, relays of both, and faults of one machine or of the network between two.

use super::Scenario;
use crate::faults::{
    cluster::{Cluster, wall},
    random::Random,
    system::network::{Loss, Machine, Network},
    world::World,
};
use rustix::process::Signal;
use std::{thread, time::Duration};

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "machines-kill-home",
        about: "kill -9 of the DAC that the node is connected to, 100 times (network namespaces)",
        is_quick: false,
        run: |world| repeat(world, 100, 1.0, &[Fault::KillHome]),
    },
    Scenario {
        name: "machines-kill-other",
        about: "kill -9 of the other DAC, 50 times",
        is_quick: false,
        run: |world| repeat(world, 50, 1.0, &[Fault::KillOther]),
    },
    Scenario {
        name: "machines-restart-home",
        about: "SIGTERM and a new process of the DAC that the node is connected to, 50 times",
        is_quick: false,
        run: |world| repeat(world, 50, 1.0, &[Fault::RestartHome]),
    },
    Scenario {
        name: "machines-stop-home",
        about: "SIGSTOP of the DAC that the node is connected to for 60 s, 10 times",
        is_quick: false,
        run: |world| repeat(world, 10, 60.0, &[Fault::StopHome]),
    },
    Scenario {
        name: "machines-partition-node",
        about: "nothing passes between the node and its DAC for 60 s, 10 times",
        is_quick: false,
        run: |world| repeat(world, 10, 60.0, &[Fault::Node(Loss::All)]),
    },
    Scenario {
        name: "machines-partition-relay",
        about: "nothing passes between a relay and the DAC of the node for 60 s, 10 times",
        is_quick: true,
        run: |world| repeat(world, 10, 60.0, &[Fault::Relay(Loss::All)]),
    },
    Scenario {
        name: "machines-partition-dacs",
        about: "nothing passes between the DACs for 60 s, 10 times",
        is_quick: false,
        run: |world| repeat(world, 10, 60.0, &[Fault::Dacs(Loss::All)]),
    },
    Scenario {
        name: "machines-partition-home",
        about: "nothing passes between the DAC of the node and all other machines for 60 s, 10 times",
        is_quick: false,
        run: |world| repeat(world, 10, 60.0, &[Fault::Home]),
    },
    Scenario {
        name: "machines-partition-tem",
        about: "nothing passes between the TEM and all other machines for 60 s",
        is_quick: false,
        run: |world| repeat(world, 1, 60.0, &[Fault::Tem]),
    },
    Scenario {
        name: "machines-one-way",
        about: "nothing that the DAC sends reaches its node, or the other way round, for 60 s, 10 times",
        is_quick: false,
        run: |world| repeat(world, 10, 60.0, &[Fault::Node(Loss::OneWay), Fault::NodeUp]),
    },
    Scenario {
        name: "machines-lossy",
        about: "2 % of the packets between node, DAC and relay are lost for 60 s, 10 times",
        is_quick: false,
        run: |world| repeat(world, 10, 60.0, &[Fault::Node(Loss::Some(2)), Fault::Relay(Loss::Some(2))]),
    },
    Scenario {
        name: "machines-slow",
        about: "a relay receives 60 KiB/s for 60 s, 10 times",
        is_quick: false,
        run: |world| repeat(world, 10, 60.0, &[Fault::Relay(Loss::Slow(60))]),
    },
    Scenario {
        name: "machines-storm",
        about: "all faults of several machines in the order of the seed, 100 of them, each for up to 20 s",
        is_quick: false,
        run: |world| repeat(world, 100, 20.0, ALL),
    },
];

/// A fault. The home is the DAC that the node is connected to.
#[derive(Debug, Clone, Copy)]
enum Fault {
    KillHome,
    KillOther,
    RestartHome,
    StopHome,
    /// Between node and home.
    Node(Loss),
    /// From node to home.
    NodeUp,
    /// Between a relay and the home.
    Relay(Loss),
    /// Between both DACs.
    Dacs(Loss),
    /// Between the home and all others.
    Home,
    /// Between the TEM and all others.
    Tem,
}

const ALL: &[Fault] = &[
    Fault::KillHome,
    Fault::KillOther,
    Fault::RestartHome,
    Fault::StopHome,
    Fault::Node(Loss::All),
    Fault::Node(Loss::OneWay),
    Fault::NodeUp,
    Fault::Relay(Loss::All),
    Fault::Relay(Loss::OneWay),
    Fault::Relay(Loss::Slow(60)),
    Fault::Dacs(Loss::All),
    Fault::Home,
    Fault::Tem,
];

/// Longest times of all rounds.
#[derive(Debug, Default)]
struct Times {
    node: Vec<Duration>,
    relays: Vec<Duration>,
    equal: Vec<Duration>,
}

/// Injects faults one after the other, each for a time, and judges what became of the samples.
fn repeat(world: &mut World, full: u32, seconds: f64, faults: &[Fault]) -> anyhow::Result<()> {
    let network = match Network::new() {
        Ok(network) => network,
        Err(error) => {
            world.outcome.skipped = Some(format!("no network namespaces: {error:#}"));
            return Ok(());
        }
    };
    // Its archives are judged here: there are two.
    world.is_unaccountable = true;
    let mut cluster = Cluster::start(world, network)?;
    let mut times = Times::default();
    let length = world.scaled(seconds).max(Duration::from_secs(2));
    for _ in 0..world.repeated(full) {
        let fault = faults[world.random.within(0..faults.len() as u64) as usize];
        thread::sleep(world.random.millis(0..700));
        if let Err(error) = inject(&mut cluster, fault, length, &mut world.random, &mut times) {
            world.outcome.failures.push(format!("{fault:?}: {error:#}"));
            world.outcome.different_registries += u64::from(format!("{error:#}").contains("registries"));
            break;
        }
    }
    times.note(world);
    cluster.finish(world)
}

/// Injects a fault, ends it, and waits until everything is as before.
fn inject(
    cluster: &mut Cluster,
    fault: Fault,
    length: Duration,
    random: &mut Random,
    times: &mut Times,
) -> anyhow::Result<()> {
    let home = cluster.home()?;
    let other = 1 - home;
    let relay = random.within(0..2) as usize;
    let moment = wall();
    // DACs and relays at which readers can still reach the node.
    let mut is_reached = vec![0, 1, 2 + other];
    let machines: Vec<Machine> = match fault {
        Fault::KillHome => {
            cluster.dacs[home].take()?.kill();
            times.node.push(cluster.until_home(&[other])?);
            Vec::new()
        }
        Fault::KillOther => {
            cluster.dacs[other].take()?.kill();
            is_reached = vec![0, 1, 2 + home];
            Vec::new()
        }
        Fault::RestartHome => {
            cluster.dacs[home].take()?.finish()?;
            Vec::new()
        }
        Fault::StopHome => {
            cluster.dacs[home].program()?.signal(Signal::STOP)?;
            times.node.push(cluster.until_home(&[other])?);
            Vec::new()
        }
        Fault::Node(loss) => between(cluster.node_machine(), &[cluster.dacs[home].machine()], loss)?,
        Fault::NodeUp => between(cluster.dacs[home].machine(), &[cluster.node_machine()], Loss::OneWay)?,
        Fault::Relay(loss) => {
            between(cluster.relays[relay].machine(), &[cluster.dacs[home].machine()], loss)?
        }
        Fault::Dacs(loss) => {
            is_reached = vec![0, 1, 2 + home];
            between(cluster.dacs[home].machine(), &[cluster.dacs[other].machine()], loss)?
        }
        Fault::Home => {
            let others = [
                cluster.dacs[other].machine(),
                cluster.relays[0].machine(),
                cluster.relays[1].machine(),
                cluster.node_machine(),
            ];
            between(cluster.dacs[home].machine(), &others, Loss::All)?
        }
        Fault::Tem => {
            let others = [cluster.dacs[0].machine(), cluster.dacs[1].machine(), cluster.node_machine()];
            between(cluster.tem_machine(), &others, Loss::All)?
        }
    };
    // Samples that the node sent before packets were lost may still be read.
    let moment = if machines.is_empty() { moment } else { wall() };
    cluster.until_read(&is_reached, moment)?;
    times.relays.push(Duration::from_nanos(wall() - moment));
    thread::sleep(length.saturating_sub(Duration::from_nanos(wall() - moment)));
    machines.iter().try_for_each(Machine::pass)?;
    for at in 0..2 {
        match cluster.dacs[at].program() {
            Ok(dac) => dac.signal(Signal::CONT)?,
            Err(_) => cluster.start_dac(at)?,
        }
    }
    times.equal.push(cluster.until_equal()?);
    cluster.until_read(&[0, 1, 2, 3], wall())?;
    Ok(())
}

fn between(machine: &Machine, others: &[&Machine], loss: Loss) -> anyhow::Result<Vec<Machine>> {
    machine.lose(others, loss)?;
    Ok(vec![machine.clone()])
}

impl Times {
    fn note(mut self, world: &mut World) {
        let notes = &mut world.outcome.notes;
        notes.insert("faults", self.relays.len() as u64);
        let all = [
            ("node_p50_ms", "node_most_ms", &mut self.node),
            ("readers_p50_ms", "readers_most_ms", &mut self.relays),
            ("equal_p50_ms", "equal_most_ms", &mut self.equal),
        ];
        for (middle, most, times) in all {
            times.sort_unstable();
            if let (Some(median), Some(longest)) = (times.get(times.len() / 2), times.last()) {
                notes.insert(middle, median.as_millis() as u64);
                notes.insert(most, longest.as_millis() as u64);
            }
        }
        world.outcome.recovery = self.equal.last().copied();
    }
}
