//! Members that are considered dead, under lost heartbeats, deaths, an observer that stops, and clocks of hosts that jump.

use oasis_tem::{
    DacName, Directory, HEARTBEAT, Health, Heartbeat, Kind, LATE_AFTER, Limits, Liveness, Load, NodeNames,
};
use oasis_wire::quantity::Epoch;
use std::{collections::BTreeMap, time::Duration};

const DACS: usize = 4;
const SEEDS: u64 = 200;
/// Steps of a quarter of a second.
const STEPS: u64 = 400;
const STEP: Duration = Duration::from_millis(250);
/// A heartbeat that is late by no more than this is not late.
const PROMPT: Duration = Duration::from_millis(1_000);
/// After this silence everybody knows.
const SILENT: Duration = Duration::from_millis(2_250);

/// Criterion of an observer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Judge {
    /// By its own steady clock: the directory.
    Steady,
    /// Mutant: by the time that a heartbeat says it was sent at, which is valid for a while on the observer's wall clock.
    Ttl,
    /// Mutant: by the steady clock of the peer, which the directory is given.
    PeersClock,
}

/// Numbers that look random and repeat with the seed (`SplitMix64`).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }
}

struct Peer {
    name: DacName,
    epoch: u64,
    beat: u64,
    is_alive: bool,
    /// Its wall clock minus the true time, in seconds.
    clock: i64,
    /// True time of its last heartbeat that arrived.
    arrived: Duration,
    /// Time of that heartbeat, in seconds on the peer's clock.
    sent: i64,
    lost: u64,
}

fn heartbeat(epoch: u64, beat: u64) -> Heartbeat {
    Heartbeat {
        epoch: Epoch(epoch),
        beat,
        kind: Kind::Dac,
        doors: "http://192.0.2.1:7070".into(),
        channel: "192.0.2.1:7071".into(),
        software: "test".into(),
        health: Health::Ok,
        load: Load::default(),
        names_revision: 1,
        names: Some(NodeNames::default()),
    }
}

/// Runs a seed. Returns how many judgements were right.
fn run(seed: u64, judge: Judge) -> Result<u64, String> {
    let mut random = Random(seed);
    let mut directory = Directory::new(Limits::default());
    let peer = |number: usize| Peer {
        name: format!("hall-{number}").parse().unwrap(),
        epoch: number as u64 + 1,
        beat: 0,
        is_alive: true,
        clock: 0,
        arrived: Duration::ZERO,
        sent: 0,
        lost: 0,
    };
    let mut peers: Vec<_> = (0..DACS).map(peer).collect();
    // The observer's wall clock minus the true time, in seconds.
    let (mut wall, mut judged) = (0_i64, 0);
    for step in 0..STEPS {
        let now = STEP * u32::try_from(step).unwrap();
        let seconds = i64::try_from(now.as_secs()).unwrap();
        if random.below(40) == 0 {
            wall += i64::try_from(random.below(7_200)).unwrap() - 3_600;
        }
        let of_judge = |peer: &Peer| match judge {
            Judge::PeersClock => now.saturating_add_signed(peer.clock),
            Judge::Steady | Judge::Ttl => now,
        };
        for peer in &mut peers {
            match random.below(120) {
                0 => peer.is_alive = !peer.is_alive,
                1 => peer.clock += i64::try_from(random.below(7_200)).unwrap() - 3_600,
                _ => {}
            }
            let is_due = STEP * u32::try_from(step % 2).unwrap() == Duration::ZERO;
            // Never two in a row.
            let is_lost = peer.lost == 0 && random.below(10) == 0;
            peer.lost = u64::from(is_lost);
            if peer.is_alive && is_due && !is_lost {
                peer.beat += 1;
                (peer.arrived, peer.sent) = (now, seconds + peer.clock);
                let beaten = directory.beat(&peer.name, heartbeat(peer.epoch, peer.beat), of_judge(peer));
                beaten.map_err(|refusal| format!("{refusal:?}"))?;
            }
        }
        if judge != Judge::PeersClock {
            directory.advance(now);
        }
        let members: BTreeMap<_, _> =
            directory.members().map(|member| (member.name().clone(), member.liveness())).collect();
        for peer in peers.iter().filter(|peer| peer.beat > 0) {
            let is_live = match judge {
                Judge::Ttl => peer.sent + 2 > seconds + wall,
                Judge::Steady | Judge::PeersClock => members.get(&peer.name) == Some(&Liveness::Live),
            };
            let silence = now - peer.arrived;
            if silence <= PROMPT && !is_live {
                return Err(format!("step {step}: {:?} is heard, and taken for dead", peer.name));
            }
            if silence >= SILENT && is_live {
                return Err(format!(
                    "step {step}: {:?} is silent for {silence:?}, and taken for alive",
                    peer.name
                ));
            }
            judged += 1;
        }
    }
    Ok(judged)
}

trait SaturatingAddSigned {
    fn saturating_add_signed(self, seconds: i64) -> Self;
}

impl SaturatingAddSigned for Duration {
    fn saturating_add_signed(self, seconds: i64) -> Self {
        let moved = Duration::from_secs(seconds.unsigned_abs());
        if seconds < 0 { self.saturating_sub(moved) } else { self.saturating_add(moved) }
    }
}

#[test]
fn a_dac_is_late_when_it_is_silent_and_never_because_of_a_clock() {
    assert!(PROMPT >= HEARTBEAT * 2 && PROMPT < LATE_AFTER && LATE_AFTER < SILENT);
    let judged: u64 = (0..SEEDS)
        .map(|seed| run(seed, Judge::Steady).unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}")))
        .sum();
    println!("{SEEDS} seeds: {judged} judgements, 0 wrong");
}

#[test]
fn mutants_that_judge_by_other_clocks_are_found() {
    for judge in [Judge::Ttl, Judge::PeersClock] {
        let found = (0..SEEDS).find_map(|seed| Some((seed, run(seed, judge).err()?)));
        let (seed, wrong) = found.unwrap_or_else(|| panic!("{judge:?} is not found"));
        println!("mutant liveness by {judge:?}: found after {} seeds: {wrong}", seed + 1);
    }
}
