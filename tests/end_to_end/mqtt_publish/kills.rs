//! Kills and restarts of broker and DAC: each sample is published or declared.

use super::{OPEN, Peer, arguments, until};
use crate::{
    harness::{Oasis, eventually_shown, has_program, instance, kills},
    mqtt::{Broker, MOSQUITTO},
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The numbers of the samples of a run: published, and declared.
#[derive(Default)]
struct Numbers {
    published: BTreeSet<u64>,
    repeated: u64,
    declared: BTreeSet<u64>,
}

impl Numbers {
    fn read(peer: &mut Peer, into: &mut BTreeMap<String, Self>) {
        while let Some(line) = peer.try_next() {
            let json = &line["json"];
            let Some(run) = json["run"].as_str() else { continue };
            let numbers = into.entry(format!("{run} {}", json["instance"])).or_default();
            match json["sequence"].as_u64() {
                Some(number) => numbers.repeated += u64::from(!numbers.published.insert(number)),
                None => {
                    let (from, to) =
                        (json["from_sequence"].as_u64().unwrap(), json["to_sequence"].as_u64().unwrap());
                    numbers.declared.extend(from..=to);
                }
            }
        }
    }
}

#[test]
fn after_kills_of_broker_and_dac_each_sample_is_published_or_declared() {
    if !has_program(MOSQUITTO, "mosquitto mosquitto-clients") {
        return;
    }
    let rounds = kills(3);
    let mut broker = Broker::start(OPEN);
    let mut peer = Peer::start(&broker, "5", "reader", &["oasis/#"]);
    let folder = tempfile::tempdir().unwrap();
    let arguments = arguments(folder.path(), &broker, "instances = ['plant/*']");
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let mut dac = Oasis::dac(&arguments);
    let (listen, channel) = (dac.listen().to_owned(), dac.channel().to_owned());
    let node = Oasis::node(&channel, &["--probe", "processor@100", "--probe", "heartbeat@50"]);
    let mut numbers = BTreeMap::new();
    for round in 0..rounds {
        let some_more = |dac: &Oasis| {
            let before = until(dac, "the connection", |state| state["connected"] == true);
            let before = before["published_samples"].as_u64().unwrap();
            until(dac, "more samples", |state| state["published_samples"].as_u64().unwrap() > before + 100);
        };
        some_more(&dac);
        if round % 3 != 1 {
            dac.kill();
            dac = Oasis::dac_at(&listen, &channel, &arguments);
        }
        if round % 3 != 0 {
            // Mosquitto stores what it has acknowledged when it ends, not when it is killed.
            broker.stop();
            until(&dac, "samples that wait", |state| {
                state["connected"] == false && state["unread_samples"].as_u64() > Some(0)
            });
            broker.restart();
        }
        some_more(&dac);
        Numbers::read(&mut peer, &mut numbers);
    }
    node.kill();
    let last = |name: &str| {
        let of = instance(&dac, "plant", name).unwrap();
        of["ledger"]["last_sequence"].as_u64().unwrap_or_else(|| panic!("{of}"))
    };
    for name in ["processor", "heartbeat"] {
        eventually_shown("each sample of the run", || {
            Numbers::read(&mut peer, &mut numbers);
            let of = numbers.iter().find(|(key, _)| key.contains(name)).map(|(_, of)| of);
            let Some(of) = of else { return Err(Value::Null) };
            let is_known = |number: &u64| of.published.contains(number) || of.declared.contains(number);
            let missing: Vec<u64> = (1..=last(name)).filter(|number| !is_known(number)).collect();
            if missing.is_empty() { Ok(()) } else { Err(json!([missing.len(), missing.first(), last(name)])) }
        });
    }
    assert_eq!(numbers.len(), 2, "one run of two instances: {:?}", numbers.keys());
    for (key, of) in &numbers {
        let (published, declared, repeated) = (of.published.len(), of.declared.len(), of.repeated);
        println!(
            "{rounds} rounds, {key}: {published} published, {declared} declared, {repeated} repeated, 0 unexplained"
        );
    }
}
