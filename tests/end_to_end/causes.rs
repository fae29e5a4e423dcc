//! Whoever reads learns why samples are missing: each cause with its count, the same as in the DAC's ledger (`docs/reference/loss.md`).

use crate::harness::{
    Incoming, Native, Oasis, PlainNode, eventually, eventually_shown, get, ledger, oasis,
    plain_node::{beat, identity, pushed},
};
use mcap::MessageStream;
use oasis_channel::{Counters, Drops, NodeMessage};
use oasis_wire::{
    batch::{Encoder, Fields, Header},
    quantity::TopicId,
};
use serde_json::{Value, json};
use std::process::Command;

/// A node that drops what the test wants.
struct Dropping {
    node: PlainNode,
    topic: TopicId,
    taken: u64,
    told: Drops,
}

impl Dropping {
    fn connect(dac: &Oasis) -> Self {
        let beat = beat();
        let node = PlainNode::connect(
            dac.channel(),
            identity("plant", 1),
            None,
            (&beat, vec![pushed("beat", &beat)]),
        );
        let topic = node.topics[0];
        Self { node, topic, taken: 0, told: Drops::default() }
    }

    fn send(&mut self, samples: u64) {
        self.send_after(0, samples);
    }

    /// Reports these drops besides those before, and sends samples after them.
    fn drop_and_send(&mut self, ring_full: u64, spool_full: u64, kept_back: u64) {
        let Drops { ring_full: ring, spool_full: spool, kept_back: kept, .. } = self.told;
        self.told = Drops {
            ring_full: ring + ring_full,
            spool_full: spool + spool_full,
            kept_back: kept + kept_back,
            ..self.told
        };
        self.send_after(ring_full + spool_full + kept_back, 2);
    }

    fn send_after(&mut self, dropped: u64, samples: u64) {
        let sent = self.taken;
        self.taken += dropped + samples;
        let first_sequence = sent + dropped + 1;
        let mut encoder = Encoder::new(&beat()).unwrap();
        let time = oasis_dac::now().0;
        (0..samples).for_each(|number| encoder.push(time + number, &[]).unwrap());
        let mut batch = Vec::new();
        let dropped_before = u32::try_from(dropped).unwrap();
        encoder.finish(
            Fields { topic: self.topic.0, first_sequence, dropped_before, ..Fields::default() },
            &mut batch,
        );
        let counters = Counters {
            topic: self.topic,
            taken: self.taken,
            sent,
            dropped: self.told,
            after_sent: Drops::default(),
        };
        let counters = NodeMessage::Counters { instances: vec![counters] };
        self.node.sender.send(&[counters], &[&batch]).unwrap();
    }
}

/// The gaps before each batch up to this sequence number.
fn gaps_until(client: &mut Native, last: u64) -> Vec<(u64, Vec<Value>)> {
    let (mut found, mut announced) = (Vec::new(), Vec::new());
    loop {
        match client.next() {
            Incoming::Control(message) if message["op"] == "gaps_before" => {
                announced.extend(message["gaps"].as_array().unwrap().clone());
            }
            Incoming::Batch(bytes) => {
                let header = Header::parse(&bytes).unwrap();
                if !announced.is_empty() {
                    found.push((header.first_sequence, std::mem::take(&mut announced)));
                }
                if header.last_sequence() >= last {
                    return found;
                }
            }
            Incoming::Control(_) => {}
            Incoming::Closed(code, reason) => panic!("closed: {code} {reason}"),
        }
    }
}

/// The ledger's gaps without the time at which they were noticed, as a reader gets them.
fn of_ledger(ledger: &Value) -> Vec<Value> {
    let mut gaps = ledger["gaps"].as_array().unwrap().clone();
    gaps.iter_mut().for_each(|gap| drop(gap.as_object_mut().unwrap().remove("time")));
    gaps
}

fn output(command: &mut Command) -> (String, String) {
    let output = command.output().unwrap();
    let [out, said] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert!(output.status.success(), "{said}");
    (out, said)
}

#[test]
fn every_reader_learns_each_cause_with_its_count() {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("archive");
    let home = Oasis::dac(&["--archive", archive.to_str().unwrap()]);
    let mut node = Dropping::connect(&home);
    let relay =
        Oasis::start_as_written(oasis(), &["relay", "--listen", "127.0.0.1:0", "--upstream", home.http()]);
    eventually("the instance at the relay", || {
        get(&relay, "/api/v1/instances")["instances"].as_array()?.first().map(drop)
    });
    let mut live = Native::connect(&home.url());
    live.subscribe("beat", json!({"gaps": true}));
    let mut plain = Native::connect(&home.url());
    plain.subscribe("beat", json!({}));
    let mut relayed = Native::connect(&relay.url());
    relayed.subscribe("beat", json!({"gaps": true}));
    let mut statistics = Native::connect(&home.url());
    statistics.send(tungstenite::Message::text(
        r#"{"op":"watch","id":1,"deltas":true,"statistics":true,"causes":true}"#,
    ));
    node.send(3);
    for client in [&mut live, &mut plain, &mut relayed] {
        assert_eq!(gaps_until(client, 3), []);
    }
    node.drop_and_send(2, 3, 0);
    node.drop_and_send(0, 0, 40);
    let last = node.taken;
    let expected = json!({"ring_full": 2, "spool_full": 3, "kept_back": 40});
    let account = ledger(&home, "plant", "beat", "all batches", |ledger| ledger["last_sequence"] == last);
    assert_eq!((&account["missing"], &account["causes"]), (&json!(45), &expected));
    let all = of_ledger(&account);
    assert_eq!(all.len(), 3);

    // Live, with a batch each.
    let by_batch = [(9, all[..2].to_vec()), (last - 1, all[2..].to_vec())];
    assert_eq!(gaps_until(&mut live, last), by_batch);
    assert_eq!(gaps_until(&mut relayed, last), by_batch, "through a relay");
    assert_eq!(gaps_until(&mut plain, last), [], "a client that has not asked");
    // The DAC's numbers, once a second.
    eventually_shown("the causes in the statistics", || {
        let message = statistics.control("statistics");
        let rows = message["instances"].as_array().unwrap();
        match rows.iter().find(|row| row[2] == 45) {
            Some(row) if row[4] == expected => Ok(()),
            _ => Err(message),
        }
    });
    // A fleet leaves out what a flight recorder kept back.
    let fleet = statistics.request(json!({"op": "fleet", "nodes": "plant"}));
    assert_eq!(fleet["op"], "fleet", "{fleet}");
    let row = statistics.control("fleet_rows")["rows"][0].clone();
    assert_eq!((&row[4], &row[5], &row[6]), (&account["received"], &json!(5), &json!(0)), "{row}");

    // The past: from the log, and as points.
    let mut past = Native::connect(&home.url());
    past.subscribe("beat", json!({"gaps": true, "from": "-1h"}));
    assert_eq!(gaps_until(&mut past, last), by_batch);
    for dac in [&home, &relay] {
        let poll = get(dac, "/api/v1/samples?node=plant&instance=beat&from=-1h");
        let messages = poll["messages"].as_array().unwrap();
        let told: Vec<&Value> = messages
            .iter()
            .flat_map(|message| message["gaps_before"].as_array().into_iter().flatten())
            .collect();
        assert_eq!(told, all.iter().collect::<Vec<_>>(), "{poll}");
    }
    let points = get(&home, "/api/v1/samples?node=plant&instance=beat&from=-1h&points=10");
    let gaps = points["messages"][0]["gaps"].as_array().unwrap();
    let counted: Value =
        gaps.iter().map(|gap| (gap["cause"].as_str().unwrap().to_owned(), gap["samples"].clone())).collect();
    assert_eq!(counted, expected, "{points}");

    // The command line.
    let (_, said) = output(
        oasis().args(["tail", "plant/beat", "--from", "-1h", "--count", "7"]).args(["--url", &home.url()]),
    );
    assert!(said.contains("5 samples are missing before 9: 2 ring_full, 3 spool_full"), "{said}");
    assert!(said.contains("40 samples are missing before 51: 40 kept_back"), "{said}");

    // SQL has them once they are stored.
    let query = "SELECT cause, sum(count) FROM gaps GROUP BY cause ORDER BY cause";
    eventually_shown("the gaps in SQL", || {
        let (out, _) = output(oasis().args(["sql", "--url", &home.url(), "--format", "csv", query]));
        let rows: Vec<&str> = out.lines().skip(1).collect();
        if rows == ["kept_back,40", "ring_full,2", "spool_full,3"] { Ok(()) } else { Err(json!(out)) }
    });
    // An earlier life of the DAC: only the archive has the samples now.
    assert!(home.stop().success());
    let again = Oasis::dac(&["--archive", archive.to_str().unwrap()]);
    let _node = Dropping::connect(&again);
    eventually("the instance", || {
        get(&again, "/api/v1/instances")["instances"].as_array()?.first().map(drop)
    });
    let mut past = Native::connect(&again.url());
    past.subscribe("beat", json!({"gaps": true, "from": "-1h"}));
    assert_eq!(gaps_until(&mut past, last), by_batch, "from the archive");
}

#[test]
fn without_an_archive_a_download_has_the_causes_too() {
    let dac = Oasis::dac(&[]);
    let mut node = Dropping::connect(&dac);
    node.send(3);
    node.drop_and_send(2, 3, 0);
    let last = node.taken;
    ledger(&dac, "plant", "beat", "all batches", |ledger| ledger["last_sequence"] == last);
    let path = format!("{}/api/v1/history.mcap?node=plant&instance=beat&from=-1h", dac.http());
    let file = ureq::get(&path).call().unwrap().body_mut().read_to_vec().unwrap();
    let messages = MessageStream::new(&file).unwrap().map(|message| message.unwrap());
    let messages: Vec<String> =
        messages.map(|message| String::from_utf8_lossy(&message.data).into_owned()).collect();
    let of = |cause: &str| messages.iter().filter(|text| text.contains(cause)).count();
    assert_eq!((of("ring_full"), of("spool_full")), (1, 1), "{messages:?}");
    assert!(get(&dac, "/api/v1/ledger")["since"].as_u64() > Some(1_700_000_000_000_000_000));
}
