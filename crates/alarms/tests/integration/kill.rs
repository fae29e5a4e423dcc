//! A process that is killed while it writes: what it reported as committed is there, and beginning again repeats nothing.

use oasis_alarms::{
    Alarms, At, Checkpoint, CheckpointKey, EventIdentity, EventKey, Limits, Position, Round, RuleEvent,
    RuleFacts,
};
use oasis_rules::{EventKind, Standing, program::Severity};
use oasis_wire::quantity::{Epoch, Nanos, Offset};
use std::{
    env,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Command, Stdio},
};

/// Names the folder for the process that is killed.
const FOLDER: &str = "OASIS_TEST_ALARMS";
const KILLS: u64 = 20;

fn open(folder: &Path) -> Alarms {
    let alarms = Alarms::open(folder, Limits::default()).unwrap();
    alarms.set_destinations(&["mail".into()]).unwrap();
    let facts =
        RuleFacts { name: "Hot".into(), severity: Severity::High, latch: false, message: None, notify: None };
    alarms.set_rules(&[facts]).unwrap();
    alarms
}

fn key() -> CheckpointKey {
    CheckpointKey { rule: "Hot".into(), node: "plant".into(), instance: "pump".into() }
}

/// The alarm is raised at odd samples and cleared at even ones.
fn round(sequence: u64) -> Round {
    let (rule, node, instance) = ("Hot", "plant", "pump");
    let is_raised = sequence % 2 == 1;
    let kind = if is_raised { EventKind::Raised } else { EventKind::Cleared };
    let at = At::Sequence(sequence);
    let event = EventKey::new(EventIdentity { rule, node, instance, run: None, at, kind, index: 0 });
    let standing = Some(if is_raised { Standing::Active } else { Standing::Normal });
    let event = RuleEvent {
        standing,
        sequence: Some(sequence),
        ..RuleEvent::new(event, rule, (node, instance), kind)
    };
    let position =
        Position { run: None, sequence, epoch: Epoch(1), offset: Offset(sequence), dac_time: sequence };
    let checkpoint = Checkpoint { rule_hash: "1".into(), position, state: sequence.to_le_bytes().to_vec() };
    Round { now: Nanos(sequence), events: vec![event], checkpoints: vec![(key(), checkpoint)] }
}

/// The last sample that is evaluated.
fn position(alarms: &Alarms) -> u64 {
    alarms.checkpoint(&key()).unwrap().map_or(0, |checkpoint| checkpoint.position.sequence)
}

/// The process that is killed. It begins at its checkpoint, and reports each round after it is committed.
#[test]
#[ignore = "only as a process of the test below"]
fn writes_until_it_is_killed() {
    let Some(folder) = env::var_os(FOLDER) else { return };
    let alarms = open(Path::new(&folder));
    // Some of what is evaluated already comes once more.
    let from = position(&alarms).saturating_sub(2) + 1;
    for sequence in from.. {
        alarms.commit(round(sequence)).unwrap();
        writeln!(std::io::stdout(), "committed {sequence}").unwrap();
    }
}

#[test]
fn nothing_is_lost_or_repeated_in_many_kills() {
    let folder = tempfile::tempdir().unwrap();
    let mut reported = 0;
    for kill in 0..KILLS {
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", "kill::writes_until_it_is_killed", "--ignored", "--nocapture"])
            .env(FOLDER, folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let committed = lines.map_while(Result::ok).filter_map(|line| {
            let (_, number) = line.split_once("committed ")?;
            number.parse::<u64>().ok()
        });
        let mut committed = committed.peekable();
        // At another place each time: while the next round is being written.
        for sequence in committed.by_ref().take(3 + kill as usize) {
            reported = reported.max(sequence);
        }
        child.kill().unwrap();
        child.wait().unwrap();
        reported = committed.fold(reported, u64::max);
    }
    let alarms = open(folder.path());
    let last = position(&alarms);
    assert!(last >= reported && reported > KILLS * 3, "{last} {reported}");
    let mut sequences = Vec::new();
    let mut filter = oasis_alarms::JournalFilter::default();
    loop {
        let page = alarms.journal(&filter).unwrap();
        sequences.extend(page.entries.iter().filter_map(|entry| entry.sequence));
        filter.after = page.next;
        if filter.after.is_none() {
            break;
        }
    }
    sequences.reverse();
    assert_eq!(sequences, (1..=last).collect::<Vec<_>>());
    let messages = alarms.due(Nanos(u64::MAX / 2), 10_000).unwrap();
    let told: Vec<_> = messages.iter().map(|message| (message.alarm.sequence, message.coalesced)).collect();
    assert_eq!(told, [(Some(last), last - 1)], "the newest state stands for all of them");
}
