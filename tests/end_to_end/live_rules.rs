//! Rules that the DAC evaluates while samples come (`docs/guides/write-rules.md`): no event is lost or twice, whatever is killed, and a recording gives the
//! same ones.

use crate::harness::{Oasis, eventually, get, kills, ledger, oasis};
use oasis_alarms::{Alarms, JournalEntry, JournalFilter, JournalKind, Limits};
use oasis_rules::Standing;
use oasis_wire::time;
use serde_json::{Map, Value, json};
use std::{
    collections::BTreeMap,
    fs,
    path::PathBuf,
    time::{SystemTime, UNIX_EPOCH},
};

/// Many events: a processor's times change irregularly.
const RULES: &str = r#"input cpu = "*/processor" : OASIS::System::LinuxProcessorProbe;

alarm Busy {
  raise rate(cpu.idle_time + cpu.user_time, last 2) < rate(cpu.idle_time + cpu.user_time, last 5) for 4ms;
  clear rate(cpu.idle_time + cpu.user_time, last 2) > rate(cpu.idle_time + cpu.user_time, last 5);
  latch;
}

event Turned {
  when rate(cpu.idle_time + cpu.user_time, last 2) > rate(cpu.idle_time + cpu.user_time, last 4) then rate(cpu.idle_time, last 2) > rate(cpu.idle_time, last 4) within 20ms;
}

derive Tenth every 100ms {
  busy = rate(cpu.user_time, last 10);
}

alarm Falling {
  raise falling(Tenth.busy > 100 {jiffy}/s);
}

check Calm {
  after rate(cpu.user_time, last 2) > rate(cpu.user_time, last 5): always[0s, 50ms] cpu.idle_time >= 0;
}
"#;

/// Many events: the memory of a host changes irregularly.
const JOINED: &str = r#"input cpu = "*/processor" : OASIS::System::LinuxProcessorProbe;
input memory = "*/memory" : OASIS::System::LinuxMemoryProbe;

alarm Moved {
  raise rate(cpu.user_time, last 2) > 0 {jiffy}/s and memory.physical_memory_avail < mean(memory.physical_memory_avail, last 10);
}

derive Tenth every 100ms {
  share = memory.physical_memory_avail / mean(memory.physical_memory_avail, 1s at most 500 samples);
}

alarm Falling {
  raise falling(Tenth.share > 1);
}
"#;

const GONE: &str = r#"input any = "*/heartbeat" : OASIS::System::HeartbeatProbe;

alarm Gone {
  raise silent(any) for 500ms;
}
"#;

const PAIR: &[&str] = &["--probe", "processor@200", "--probe", "memory@200"];
const LOAD: &[&str] = &["--probe", "processor@200", "--probe", "heartbeat@50"];
/// `OASIS_TEST_KILLS=50` takes some minutes.
const KILLS: u32 = 3;

struct Plant {
    folder: tempfile::TempDir,
}

impl Plant {
    fn new(rules: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.rules"), rules).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn arguments(&self) -> [String; 4] {
        let path = |name: &str| self.path(name).display().to_string();
        ["--archive".into(), path("samples"), "--rules".into(), path("a.rules")]
    }

    fn dac(&self) -> Oasis {
        Oasis::dac(&self.arguments().each_ref().map(String::as_str))
    }

    fn dac_at(&self, listen: &str, channel: &str) -> Oasis {
        Oasis::dac_at(listen, channel, &self.arguments().each_ref().map(String::as_str))
    }

    /// The journal of a DAC that has stopped: events, oldest first.
    fn journal(&self) -> Vec<JournalEntry> {
        let alarms = Alarms::open(&self.path("samples-rules"), Limits::default()).unwrap();
        let (mut entries, mut after) = (Vec::new(), None);
        loop {
            let page =
                alarms.journal(&JournalFilter { after, most: 1_000, ..JournalFilter::default() }).unwrap();
            entries.extend(page.entries);
            after = page.next;
            if after.is_none() {
                entries.reverse();
                return entries;
            }
        }
    }

    /// The events of the recording, a line each.
    fn replayed(&self) -> Vec<String> {
        let mut command = oasis();
        command.current_dir(self.folder.path());
        let output = command
            .args(["rules", "run", "--archive", "samples", "--format", "json", "a.rules"])
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
    }
}

/// An entry of the journal as `oasis rules run` prints the event.
fn line(entry: &JournalEntry) -> String {
    let members = [
        ("time", json!(time::format(entry.time))),
        ("rule", json!(entry.rule)),
        ("source", json!(format!("{}/{}", entry.node, entry.instance))),
        ("event", json!(entry.kind.name())),
        ("state", json!(entry.state.map(Standing::name))),
        ("severity", json!(entry.severity.map(|severity| severity.name()))),
        ("quality", json!(if entry.is_known { "good" } else { "unknown" })),
        ("value", json!(entry.value)),
        ("limit", json!(entry.limit)),
        ("unit", json!(entry.unit.as_ref().filter(|_| entry.value.is_some()))),
        ("sequence", json!(entry.sequence)),
        ("since", json!(entry.since.map(time::format))),
        ("missing", json!(entry.missing)),
    ];
    let present = members.into_iter().filter(|(_, value)| !value.is_null());
    let object: Map<String, Value> = present.map(|(name, value)| (name.to_owned(), value)).collect();
    Value::Object(object).to_string()
}

/// Returns a figure of the handler by its name.
fn figure(dac: &Oasis, name: &str) -> u64 {
    let handlers = get(dac, "/api/v1/handlers");
    let rules = handlers["handlers"].as_array().unwrap().iter().find(|one| one["name"] == "rules").unwrap();
    assert!(rules["state"].get("failure").is_none(), "{rules}");
    rules["state"][name].as_u64().unwrap_or_else(|| panic!("no {name} in {rules}"))
}

fn eventually_more(dac: &Oasis, name: &str, than: u64) -> u64 {
    eventually(name, || Some(figure(dac, name)).filter(|number| *number > than))
}

fn all_stored(dac: &Oasis) {
    stored(dac, "plant", "processor");
}

fn stored(dac: &Oasis, node: &str, instance: &str) {
    let is_stored = |ledger: &Value| {
        let stored = ledger["archive"]["stored_offset"].as_u64();
        stored > Some(0) && stored == ledger["received"].as_u64()
    };
    ledger(dac, node, instance, "all samples stored", is_stored);
}

fn compare(live: &[String], replayed: &[String]) {
    let counted = |lines: &[String]| {
        let mut counts = BTreeMap::new();
        lines.iter().for_each(|line| *counts.entry(line.clone()).or_insert(0) += 1);
        counts
    };
    let (live, replayed) = (counted(live), counted(replayed));
    let only = |one: &BTreeMap<String, i32>, other: &BTreeMap<String, i32>| -> Vec<String> {
        one.iter()
            .filter(|(line, count)| other.get(*line) != Some(count))
            .map(|(line, _)| line.clone())
            .collect()
    };
    let (lost, new) = (only(&replayed, &live), only(&live, &replayed));
    assert!(
        lost.is_empty() && new.is_empty(),
        "only in the recording: {}\nonly in the journal: {}",
        lost.join("\n"),
        new.join("\n")
    );
}

fn sorted(mut lines: Vec<String>) -> Vec<String> {
    lines.sort();
    lines
}

#[test]
fn after_kills_of_dac_and_node_the_journal_has_each_event_of_the_recording_once() {
    let plant = Plant::new(RULES);
    let kills = kills(KILLS);
    let mut dac = plant.dac();
    let (listen, channel) = (dac.listen().to_owned(), dac.channel().to_owned());
    let mut node = Oasis::node(&channel, LOAD);
    for kill in 0..kills {
        eventually_more(&dac, "events", 20);
        dac.kill();
        dac = plant.dac_at(&listen, &channel);
        if kill % 2 == 1 {
            // Samples that were evaluated and not stored come again. Those of a node that dies before that are lost: no recording has them.
            eventually_more(&dac, "events", 20);
            node.kill();
            all_stored(&dac);
            node = Oasis::node(&channel, LOAD);
        }
    }
    eventually_more(&dac, "events", 20);
    assert!(node.stop().success());
    all_stored(&dac);
    assert!(dac.stop().success());

    let journal = plant.journal();
    let live: Vec<String> = journal.iter().map(line).collect();
    let replayed = plant.replayed();
    assert!(replayed.len() > 20 * kills as usize, "{} events", replayed.len());
    compare(&live, &replayed);
    assert_eq!(sorted(live), sorted(replayed), "byte for byte");
}

#[test]
fn joined_rules_give_the_events_of_the_recording_after_a_kill() {
    let plant = Plant::new(JOINED);
    let mut dac = plant.dac();
    let (listen, channel) = (dac.listen().to_owned(), dac.channel().to_owned());
    for kill in 0..=KILLS {
        let node = Oasis::node(&channel, PAIR);
        eventually_more(&dac, "events", 20);
        // Samples that are not stored come again later, and a recording does not contain the first time.
        assert!(node.stop().success());
        all_stored(&dac);
        stored(&dac, "plant", "memory");
        if kill < KILLS {
            dac.kill();
            dac = plant.dac_at(&listen, &channel);
        }
    }
    // Nothing waits for longer.
    let end = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64
        + oasis_rules::JOIN_WAIT_NANOS;
    eventually_more(&dac, "joined_until", end);
    assert!(dac.stop().success());
    let journal = plant.journal();
    let live: Vec<String> = journal.iter().map(line).collect();
    let replayed = plant.replayed();
    assert!(replayed.len() > 20 * KILLS as usize, "{} events", replayed.len());
    compare(&live, &replayed);
}

#[test]
fn silence_is_noticed_when_the_last_node_has_died_and_begins_anew_with_the_dac() {
    let plant = Plant::new(GONE);
    let dac = plant.dac();
    let (listen, channel) = (dac.listen().to_owned(), dac.channel().to_owned());
    let node = Oasis::node(&channel, LOAD);
    eventually_more(&dac, "samples", 10);
    let before = figure(&dac, "events");
    node.kill();
    eventually_more(&dac, "events", before);
    let alarms = get(&dac, "/api/v1/alarms?state=standing");
    let [alarm] = &alarms["alarms"].as_array().unwrap()[..] else { panic!("{alarms}") };
    assert_eq!((&alarm["rule"], &alarm["state"]), (&json!("Gone"), &json!("active")), "{alarm}");
    // The recording has the result, so it says that the DAC has waited so long.
    stored(&dac, "rules", "Gone");
    dac.kill();
    let dac = plant.dac_at(&listen, &channel);
    let node = Oasis::node(&channel, LOAD);
    eventually_more(&dac, "samples", 10);
    assert!(node.stop().success() && dac.stop().success());
    let journal = plant.journal();
    let gone: Vec<_> = journal.iter().filter(|entry| entry.rule == "Gone").map(|entry| entry.kind).collect();
    assert!(gone.starts_with(&[JournalKind::Raised, JournalKind::Cleared]), "{journal:?}");
    assert!(gone.chunks(2).all(|pair| pair.first() == Some(&JournalKind::Raised)), "{journal:?}");
    assert_eq!(journal[0].cause.as_deref(), Some("offline"), "{journal:?}");
    let (mut live, replayed) = (journal.iter().map(line).collect::<Vec<_>>(), plant.replayed());
    // The handler may have noticed that the last node has left while it ended: the archive ends at the same time.
    if live.len() > replayed.len() && journal.last().is_some_and(|last| last.kind == JournalKind::Raised) {
        live.pop();
    }
    compare(&live, &replayed);
}
