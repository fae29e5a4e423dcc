//! Peers at the data channel that lie, or say too much. A node beside them must not notice.

use super::Scenario;
use crate::faults::{
    judge::watch::Watch,
    system::{
        http,
        peer::{Peer, UUID, numbers},
        source::INSTANCE,
    },
    world::World,
};
use anyhow::Context;
use oasis_probe::{ProbeType, Sample};
use oasis_probes::LinuxProcessorProbe;
use serde_json::json;
use std::{thread, time::Duration};

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "takeover",
        about: "a peer with name and run of a living node sends sequence number 2^62, also to a DAC that starts again",
        is_quick: true,
        run: |world| takeover(world, &serde_json::from_str(LinuxProcessorProbe::SCHEMA)?),
    },
    Scenario {
        name: "takeover-type",
        about: "the same, and the peer declares another type",
        is_quick: true,
        run: |world| takeover(world, &numbers(&["value".to_owned()])?),
    },
    Scenario {
        name: "foreign-run",
        about: "a peer asks for the name of a node that is stopped for 10 s",
        is_quick: false,
        run: foreign_run,
    },
    Scenario {
        name: "junk-frames",
        about: "2,000 connections with random bytes",
        is_quick: true,
        run: |world| beside(world, junk_frames),
    },
    Scenario {
        name: "sequence-jumps",
        about: "a peer of its own name sends sequence numbers up to 2^64 - 1",
        is_quick: true,
        run: |world| beside(world, |_, channel| sequence_jumps(channel)),
    },
    Scenario {
        name: "long-strings",
        about: "300 hellos with two strings of 2 MiB each",
        is_quick: false,
        run: |world| beside(world, |_, channel| long_strings(channel)),
    },
    Scenario {
        name: "many-hellos",
        about: "10,000 hellos with names of their own, then a new node",
        is_quick: true,
        run: many_hellos,
    },
    Scenario {
        name: "types-without-instances",
        about: "100 peers with 3 MiB of types each, without instances",
        is_quick: false,
        run: |world| beside(world, |_, channel| types_without_instances(channel)),
    },
    Scenario {
        name: "many-topics",
        about: "2,500 topics with a batch of about 0.5 MiB each, against 64 MiB for all logs",
        is_quick: false,
        run: |world| beside(world, many_topics),
    },
    Scenario {
        name: "junk-evicts",
        about: "a peer stores 20 MiB of junk in an archive of 4 MiB: a node's samples must stay",
        is_quick: true,
        run: junk_evicts,
    },
    Scenario {
        name: "wide-answers",
        about: "four polls of a batch of constant columns whose JSON has 360 MB",
        is_quick: false,
        run: |world| beside(world, |world, channel| wide_answers(channel, world.dac()?.http())),
    },
];

/// A poll of all samples of the bomb.
const WIDE: &str = "/api/v1/samples?node=bomb&instance=wide&from=earliest";

/// Runs an attack beside a node that must not notice.
fn beside(
    world: &mut World,
    attack: impl FnOnce(&mut World, &str) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    world.start_pair()?;
    let channel = world.settings.channel.clone();
    let watch = Watch::start(world.dac()?.http());
    let attacked = attack(world, &channel);
    world.add_watch(watch);
    // A peer that is refused has done what it could.
    if let Err(error) = attacked {
        eprintln!("    {error:#}");
    }
    world.recover()
}

fn takeover(world: &mut World, probe_type: &ProbeType) -> anyhow::Result<()> {
    world.start_pair()?;
    let nodes = world.dac()?.get("/api/v1/nodes")?;
    let run = nodes["nodes"][0]["run"].as_str().context("a node without a run")?.to_owned();
    lie(world, &run, probe_type);
    world.settle()?;
    // A DAC that starts again meets the liar before the owner.
    world.nodes[0].signal(rustix::process::Signal::STOP)?;
    world.stop_dac()?;
    world.start_dac()?;
    lie(world, &run, probe_type);
    world.nodes[0].signal(rustix::process::Signal::CONT)?;
    world.recover()
}

fn lie(world: &World, run: &str, probe_type: &ProbeType) {
    if let Ok(mut peer) = impostor(world, run, probe_type) {
        // Refused, it hears why; otherwise its number counts.
        peer.wait_for_end();
    }
}

/// Registers the node's instance under its name and sends one forged sample.
fn impostor(world: &World, run: &str, probe_type: &ProbeType) -> anyhow::Result<Peer> {
    let mut peer = Peer::connect(&world.settings.channel)?;
    peer.hello(json!({"name": "plant", "run": run}))?;
    let topics = peer.register(probe_type, &[INSTANCE.to_owned()])?;
    let forged = vec![0; probe_type.metrics.len()];
    peer.batch(probe_type, (*topics.first().context("no topic")?, 1 << 62), [forged])?;
    Ok(peer)
}

fn foreign_run(world: &mut World) -> anyhow::Result<()> {
    world.start_pair()?;
    world.nodes[0].signal(rustix::process::Signal::STOP)?;
    let silence = world.scaled(100.0).max(Duration::from_secs(4));
    thread::sleep(silence.min(Duration::from_secs(10)));
    let taken = impostor(world, UUID, &numbers(&["value".to_owned()])?);
    world.nodes[0].signal(rustix::process::Signal::CONT)?;
    drop(taken);
    world.recover()
}

fn junk_frames(world: &mut World, channel: &str) -> anyhow::Result<()> {
    for _ in 0..world.repeated(2_000) {
        let mut peer = Peer::connect(channel)?;
        if world.random.within(0..2) == 0 {
            peer.hello(json!({"name": "junk"}))?;
        }
        let count = world.random.within(1..4_000) as usize;
        let junk = world.random.bytes(count);
        // The peer may be refused before it has sent everything.
        let _ = peer.bytes(&junk);
    }
    Ok(())
}

fn sequence_jumps(channel: &str) -> anyhow::Result<()> {
    let jumps = [1, 1 << 32, 1 << 53, 1 << 62, (1 << 63) - 1, 1 << 63, u64::MAX - 1, u64::MAX, 5, 0];
    let probe_type = numbers(&["value".to_owned()])?;
    for (number, jump) in jumps.into_iter().enumerate() {
        let mut peer = Peer::named(channel, "jumping")?;
        let topics = peer.register(&probe_type, &[format!("jump-{number}"), "all".to_owned()])?;
        for topic in topics {
            // Refused or not: the others must not notice.
            let _ = peer.batch(&probe_type, (topic, jump), [vec![7]]);
        }
        let _ = peer.control(&json!({"op": "goodbye", "reason": "shutdown"}));
        peer.wait_for_end();
    }
    Ok(())
}

fn long_strings(channel: &str) -> anyhow::Result<()> {
    let long = "x".repeat(2_000_000);
    for number in 0..300 {
        let mut peer = Peer::connect(channel)?;
        let _ = peer.hello(json!({"name": format!("long-{number}"), "host": long, "software": long}));
        let _ = peer.answer("welcome");
    }
    Ok(())
}

fn many_hellos(world: &mut World) -> anyhow::Result<()> {
    beside(world, |world, channel| {
        for number in 0..world.repeated(10_000) {
            let mut peer = Peer::named(channel, &format!("guest-{number}"))?;
            let _ = peer.answer("welcome");
        }
        Ok(())
    })?;
    let settings = world.spooling_settings("newcomer");
    world.start_node(settings)?;
    world.recover()
}

fn types_without_instances(channel: &str) -> anyhow::Result<()> {
    let mut peers = Vec::new();
    for number in 0..100 {
        let mut peer = Peer::named(channel, &format!("types-{number}"))?;
        let types: Vec<_> = (0..30_u64).map(|index| wide_type(number * 30 + index)).collect();
        let _ = peer.control(&json!({"op": "register", "types": types, "instances": []}));
        let _ = peer.answer("registered");
        peers.push(peer);
    }
    Ok(())
}

/// A type of about 100 KiB.
fn wide_type(number: u64) -> serde_json::Value {
    let metrics: Vec<_> = (0..1_000)
        .map(|metric| json!({"name": format!("{metric:060}"), "type": "uint64", "unit": "m"}))
        .collect();
    let uuid = format!("6f1b7c1e-3a55-4d5e-8c57-{number:012x}");
    json!({"name": format!("T{number}"), "uuid": uuid, "version": "1.0", "metrics": metrics})
}

fn many_topics(world: &mut World, channel: &str) -> anyhow::Result<()> {
    let probe_type = numbers(&["value".to_owned()])?;
    let mut peer = Peer::named(channel, "bomb")?;
    let names: Vec<_> = (0..world.repeated(2_500)).map(|number| format!("topic-{number}")).collect();
    let topics = peer.register(&probe_type, &names)?;
    // Random numbers do not compress: 60,000 of them are a batch of about 0.5 MiB.
    let samples: Vec<_> = (0..60_000).map(|_| vec![world.random.number()]).collect();
    for topic in topics {
        peer.batch(&probe_type, (topic, 1), samples.iter().cloned())?;
    }
    Ok(())
}

fn junk_evicts(world: &mut World) -> anyhow::Result<()> {
    world.settings.more =
        "segment_bytes = 262144\nretention = [{ instances = \"*\", days = 30, bytes = 4194304 }]\n".into();
    beside(world, |world, channel| {
        let probe_type = numbers(&["value".to_owned()])?;
        let mut peer = Peer::named(channel, "junk")?;
        let topics = peer.register(&probe_type, &["junk".to_owned()])?;
        let topic = *topics.first().context("no topic")?;
        for number in 0..200 {
            let samples: Vec<_> = (0..12_000).map(|_| vec![world.random.number()]).collect();
            peer.batch(&probe_type, (topic, 1 + number * 12_000), samples)?;
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    })
}

/// A batch of a few hundred bytes that is read as JSON of 30 MiB: constant columns with long names.
fn wide_answers(channel: &str, http: &str) -> anyhow::Result<()> {
    let names: Vec<_> = (0..200).map(|metric| format!("{metric:0900}")).collect();
    let probe_type = numbers(&names)?;
    let mut peer = Peer::named(channel, "bomb")?;
    let topics = peer.register(&probe_type, &["wide".to_owned()])?;
    let samples = (0..2_000).map(|_| vec![7; names.len()]);
    peer.batch(&probe_type, (*topics.first().context("no topic")?, 1), samples)?;
    let read = || http::request(http, "GET", WIDE, Duration::from_secs(60)).map(|answer| answer.body.len());
    thread::scope(|scope| {
        let readers: Vec<_> = (0..4).map(|_| scope.spawn(read)).collect();
        readers.into_iter().for_each(|reader| drop(reader.join()));
    });
    peer.control(&json!({"op": "goodbye", "reason": "shutdown"}))
}
