//! A replay continues after a cut connection and after a restart of its DAC.

use crate::{
    harness::{Oasis, assert_explained, eventually, eventually_shown, instance, ledger},
    replay::{Playing, command, flush, record, run, samples, stored},
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::{
    fs::{self, File},
    io::{self, Read, Write},
    iter,
    net::{Shutdown, TcpListener, TcpStream},
    path::Path,
    thread,
};

/// The place where a connection is cut. Later messages of the DAC do not arrive.
#[derive(Clone, Copy, PartialEq)]
enum Cut {
    InRegistration,
    InBatch,
    BehindBatch,
}

/// The cuts of the first connections.
const CUTS: [Cut; 4] = [Cut::InRegistration, Cut::BehindBatch, Cut::InBatch, Cut::BehindBatch];

/// Forwards connections to a DAC, one at a time, and cuts the first of them. Returns its address.
fn cutting_proxy(dac: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let dac = dac.to_owned();
    // Ends with the test process; nothing waits for it.
    thread::spawn(move || {
        let cuts = CUTS.into_iter().map(Some).chain(iter::repeat(None));
        for (client, cut) in listener.incoming().zip(cuts) {
            pass_on(client.unwrap(), TcpStream::connect(&dac).unwrap(), cut);
        }
    });
    address
}

/// Returns when the DAC has read everything.
fn pass_on(mut client: TcpStream, mut dac: TcpStream, cut: Option<Cut>) {
    let (mut answers, mut to_client) = (dac.try_clone().unwrap(), client.try_clone().unwrap());
    let back = thread::spawn(move || {
        let _ = io::copy(&mut answers, &mut to_client);
        let _ = to_client.shutdown(Shutdown::Both);
    });
    for number in 0.. {
        let Ok((is_batch, frame)) = read_frame(&mut client) else { break };
        let part = match cut {
            // After `hello` and `replay`.
            Some(Cut::InRegistration) if number == 2 => frame.len() / 2,
            Some(Cut::InBatch) if is_batch => frame.len() / 2,
            Some(Cut::BehindBatch) if is_batch => frame.len(),
            _ if dac.write_all(&frame).is_ok() => continue,
            _ => break,
        };
        client.shutdown(Shutdown::Both).unwrap();
        dac.write_all(&frame[..part]).unwrap();
        break;
    }
    let _ = dac.shutdown(Shutdown::Write);
    back.join().unwrap();
}

/// A frame of the data channel, with its head, and whether it is a batch.
fn read_frame(client: &mut TcpStream) -> io::Result<(bool, Vec<u8>)> {
    let mut frame = vec![0; 5];
    client.read_exact(&mut frame)?;
    let body = u32::from_le_bytes([frame[0], frame[1], frame[2], frame[3]]) as usize - 1;
    frame.resize(5 + body, 0);
    client.read_exact(&mut frame[5..])?;
    Ok((frame[4] == 1, frame))
}

#[test]
fn a_cut_connection_loses_and_repeats_no_sample() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (folder.path().join("first"), folder.path().join("second"));
    record(&first);
    let dac = Oasis::dac(&["--archive", second.to_str().unwrap()]);
    let proxy = cutting_proxy(dac.channel());
    let replayed = run(&["replay", first.to_str().unwrap(), "--dac", &proxy, "--speed", "10"]);
    let said = String::from_utf8(replayed.stderr).unwrap();
    assert_eq!(said.matches("replay:plant lost its connection: ").count(), CUTS.len(), "{said}");
    assert_eq!(said.matches("connected again after").count(), CUTS.len(), "{said}");
    flush(&dac);
    let (mut all, mut duplicates) = (0, 0);
    for probe in ["processor", "heartbeat"] {
        let recorded = samples(&first, &format!("plant/{probe}"));
        let replayed = samples(&second, &format!("replay:plant/{probe}"));
        assert_eq!(replayed.len(), recorded.len(), "{probe}: {said}");
        for (replayed, recorded) in replayed.iter().zip(&recorded) {
            for same in ["sequence", "state", "metrics"] {
                assert_eq!(replayed[same], recorded[same], "{probe}");
            }
        }
        // Playback paused during the outage: times only increase.
        let times: Vec<_> = replayed.iter().map(|sample| sample["time"].as_u64().unwrap()).collect();
        assert!(times.is_sorted(), "{probe}: {times:?}");
        let account = ledger(&dac, "replay:plant", probe, "a ledger", |_| true);
        assert_eq!((&account["missing"], &account["unexplained"]), (&json!(0), &json!(0)), "{account:#}");
        all += recorded.len();
        duplicates += account["duplicates"].as_u64().unwrap();
    }
    assert!(duplicates > 0, "what had arrived and was not acknowledged came again");
    assert!(said.ends_with(&format!("{all} samples replayed\n")), "{said}");
}

/// A replay in a loop whose messages go to a file.
fn play_in_a_loop(archive: &Path, channel: &str, messages: &Path) -> Playing {
    let archive = archive.to_str().unwrap();
    let arguments = ["replay", archive, "plant/processor", "--loop", "--speed", "2", "--dac", channel];
    Playing(command(&arguments).stderr(File::create(messages).unwrap()).spawn().unwrap())
}

/// Waits for a message of the replay.
fn said(messages: &Path, words: &str) {
    eventually_shown(words, || {
        let said = fs::read_to_string(messages).unwrap();
        if said.contains(words) { Ok(()) } else { Err(said.into()) }
    });
}

fn interrupt(playing: &mut Playing) {
    kill_process(Pid::from_child(&playing.0), Signal::INT).unwrap();
    let status = playing.0.wait().unwrap();
    assert!(status.success(), "{status}");
}

/// Kills the DAC with -9 during a replay and restarts it, until `is_resumed` finds data of the earlier process. Returns the content of the DAC.
fn kill_until(
    mut dac: Oasis,
    arguments: &[&str],
    is_enough: impl Fn(&Value) -> bool,
    is_resumed: impl Fn(&Value) -> bool,
) -> Oasis {
    let (listen, channel) = (dac.listen().to_owned(), dac.channel().to_owned());
    for _ in 0..20 {
        ledger(&dac, "replay:plant", "processor", "some samples", &is_enough);
        dac.kill();
        dac = Oasis::dac_at(&listen, &channel, arguments);
        let account = ledger(&dac, "replay:plant", "processor", "more", |account| account["received"] != 0);
        assert_explained(&account);
        // The first run of the node can be another one if the previous one had just ended.
        if is_resumed(&account) {
            return dac;
        }
    }
    panic!("no kill was in the middle of a run");
}

#[test]
fn samples_stored_by_a_killed_dac_are_known_to_the_next_one_and_the_rest_is_accounted_for() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (folder.path().join("first"), folder.path().join("second"));
    let messages = folder.path().join("messages");
    record(&first);
    let arguments = ["--archive", second.to_str().unwrap()];
    let dac = Oasis::dac(&arguments);
    let mut playing = play_in_a_loop(&first, dac.channel(), &messages);
    let dac = kill_until(
        dac,
        &arguments,
        |account| stored(account) > 10,
        |account| account["stored_before"].as_u64() > Some(0),
    );
    said(&messages, "connected again after");
    let again = |account: &Value| account["received"].as_u64() > Some(50);
    let account = ledger(&dac, "replay:plant", "processor", "that it goes on", again);
    assert_explained(&account);
    interrupt(&mut playing);
    assert_explained(&ledger(&dac, "replay:plant", "processor", "a ledger", |_| true));
    flush(&dac);
    let count = "SELECT count(*), count(DISTINCT run || sequence) FROM oasis_system_linux_processor_probe";
    let counted = run(&["sql", "--archive", second.to_str().unwrap(), count, "--format", "jsonl"]);
    let counted: Value = serde_json::from_slice(&counted.stdout).unwrap();
    let counts: Vec<_> = counted.as_object().unwrap().values().map(|count| count.as_u64().unwrap()).collect();
    assert!(counts[0] > 50 && counts[0] == counts[1], "some samples are there twice: {counts:?}");
}

#[test]
fn a_dac_without_an_archive_attributes_missing_samples_to_an_earlier_one() {
    let folder = tempfile::tempdir().unwrap();
    let messages = folder.path().join("messages");
    record(folder.path());
    let dac = Oasis::dac(&[]);
    let mut playing = play_in_a_loop(folder.path(), dac.channel(), &messages);
    let received = |account: &Value| account["received"].as_u64() > Some(20);
    let dac = kill_until(dac, &[], received, |account| account["causes"]["before_epoch"].as_u64() > Some(0));
    said(&messages, "The replay pauses until the DAC is reachable");
    interrupt(&mut playing);
    eventually("an instance without a node", || {
        (instance(&dac, "replay:plant", "processor")?["state"] == "offline").then_some(())
    });
    assert_explained(&ledger(&dac, "replay:plant", "processor", "a ledger", |_| true));
}

#[test]
fn a_replay_without_its_dac_ends_at_ctrl_c() {
    let folder = tempfile::tempdir().unwrap();
    let messages = folder.path().join("messages");
    record(folder.path());
    let dac = Oasis::dac(&[]);
    let mut playing = play_in_a_loop(folder.path(), dac.channel(), &messages);
    ledger(&dac, "replay:plant", "processor", "samples", |account| account["received"] != 0);
    dac.kill();
    said(&messages, "replay:plant lost its connection: ");
    interrupt(&mut playing);
    said(&messages, " samples replayed");
}
