//! `oasis replay`: a recording, published through the whole stack as if it were live.
//!
//! A [`stage`] is a node that is played back, a [`track`] one of its instances, a [`link`] its connection. Samples keep their values and sequence
//! numbers; their times move to now, and closer together if it goes faster.

mod arguments;
mod link;
mod stage;
mod track;

pub use arguments::Arguments;

use crate::{serve::Stop, target::Target, time_flag, visible::Visible};
use anyhow::{Context, bail};
use arguments::Speed;
use oasis_archive::History;
use oasis_dac::now;
use stage::{Sent, Stage, is_replay, replayed_name};
use std::{
    collections::BTreeMap,
    io::{IsTerminal, Write},
    ops::Range,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};
use track::Track;

/// Longest pause between two looks at what is due: nodes give signs of life, and Ctrl-C is obeyed.
const PAUSE: Duration = Duration::from_millis(50);
/// Samples that are due within this time go together, as a node would send them.
const LINGER: Duration = Duration::from_millis(5);
/// Shortest time around: a recording of one sample must not keep everybody busy with connecting.
const SHORTEST_LAP: Duration = Duration::from_millis(100);
const PROGRESS: Duration = Duration::from_millis(250);

/// Plays until the end, or until told to stop.
pub async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let stop = Stop::listen()?;
    let has_stopped = Arc::new(AtomicBool::new(false));
    let told = has_stopped.clone();
    let mut playing = tokio::task::spawn_blocking(move || play(&arguments, &told));
    tokio::select! {
        played = &mut playing => played?,
        () = stop.told() => {
            has_stopped.store(true, Ordering::Relaxed);
            playing.await?
        }
    }
}

fn play(arguments: &Arguments, has_stopped: &AtomicBool) -> anyhow::Result<()> {
    let (history, span) = recording(arguments)?;
    let stages = stages(&history, arguments, &span)?;
    let mut playback = Playback { stages, speed: arguments.speed, lap: 0, told: None };
    let played = playback.play(arguments.is_loop, has_stopped);
    let sent = playback.sent();
    playback.end_progress();
    let missing = if sent.missing > 0 { format!(", {} told missing", sent.missing) } else { String::new() };
    eprintln!("{} samples replayed{missing}", sent.samples);
    played
}

/// Where the recording is, and of which time.
fn recording(arguments: &Arguments) -> anyhow::Result<(History, Range<u64>)> {
    let (from, to) = time_flag::span(arguments.from.as_deref(), arguments.to.as_deref())?;
    let what = Path::new(&arguments.what);
    let (history, whole) = if what.join("catalogue.sqlite").is_file() {
        (History::open(what)?, 0..u64::MAX)
    } else {
        let archive = arguments.archive.find().with_context(|| {
            format!(
                "{} is no folder of an archive; if it is the name of a test run, name its archive",
                arguments.what
            )
        })?;
        let history = History::open(&archive)?;
        let run = history.test_runs().named(&arguments.what).with_context(|| {
            format!(
                "{} is neither a test run of {} nor the folder of an archive",
                arguments.what,
                archive.display()
            )
        })?;
        (history, run.span(now()))
    };
    let span = from.unwrap_or(0).max(whole.start)..to.unwrap_or(u64::MAX).min(whole.end);
    Ok((history, span))
}

/// The nodes to play, each with its instances.
fn stages(history: &History, arguments: &Arguments, span: &Range<u64>) -> anyhow::Result<Vec<Stage>> {
    let targets = if arguments.instances.is_empty() {
        let all = history.instances()?.into_iter().filter(|(node, _)| !is_replay(node));
        all.map(|(node, instance)| Target { node, instance }).collect()
    } else {
        arguments.instances.clone()
    };
    let mut nodes: BTreeMap<String, Vec<Track>> = BTreeMap::new();
    for target in targets {
        let node = target.node.clone();
        if let Some(track) = Track::open(history, target, span.clone())? {
            nodes.entry(node).or_default().push(track);
        }
    }
    if nodes.is_empty() {
        bail!(
            "nothing is recorded of that: `oasis export` writes what the archive has, `oasis run list` the test runs"
        );
    }
    for node in nodes.keys() {
        eprintln!("playing {} as {}", Visible(node), Visible(&replayed_name(node)));
    }
    Ok(nodes.into_iter().map(|(node, tracks)| Stage::new(&arguments.dac, &node, tracks)).collect())
}

/// All nodes, and when what was recorded happens now.
struct Playback {
    stages: Vec<Stage>,
    speed: Speed,
    lap: u64,
    /// When progress was told, if there is anybody to tell it to.
    told: Option<Instant>,
}

/// How recorded times become times now.
#[derive(Clone, Copy)]
struct Clock {
    speed: Speed,
    /// Time of the recording's first sample.
    first: u64,
    /// When that one is played.
    began: u64,
}

impl Clock {
    fn live(&self, recorded: u64) -> u64 {
        self.began.saturating_add(self.speed.scale(recorded.saturating_sub(self.first)))
    }
}

impl Playback {
    fn play(&mut self, is_loop: bool, has_stopped: &AtomicBool) -> anyhow::Result<()> {
        loop {
            self.lap += 1;
            let began = Instant::now();
            self.play_lap(has_stopped)?;
            if !is_loop || has_stopped.load(Ordering::Relaxed) {
                return self.stages.iter_mut().try_for_each(|stage| stage.end("end of the replay"));
            }
            self.stages.iter_mut().try_for_each(Stage::rewind)?;
            thread::sleep(SHORTEST_LAP.saturating_sub(began.elapsed()));
        }
    }

    fn next_time(&self) -> Option<u64> {
        self.stages.iter().filter_map(Stage::next_time).min()
    }

    fn play_lap(&mut self, has_stopped: &AtomicBool) -> anyhow::Result<()> {
        let Some(first) = self.next_time() else { return Ok(()) };
        let clock = Clock { speed: self.speed, first, began: now().0 };
        while let Some(next) = self.next_time() {
            if has_stopped.load(Ordering::Relaxed) {
                return Ok(());
            }
            let now = now().0;
            let is_due = |time| clock.live(time) <= now;
            let mut is_all = true;
            for stage in &mut self.stages {
                is_all &= stage.play(is_due, |time| clock.live(time))?;
            }
            self.tell(&clock, next, now);
            if is_all && let Some(next) = self.next_time() {
                let due = Duration::from_nanos(clock.live(next).saturating_sub(oasis_dac::now().0));
                thread::sleep(due.clamp(LINGER, PAUSE));
            }
        }
        Ok(())
    }

    fn sent(&self) -> Sent {
        self.stages.iter().fold(Sent::default(), |sum, stage| Sent {
            samples: sum.samples + stage.sent.samples,
            missing: sum.missing + stage.sent.missing,
        })
    }

    /// Says where it is, to somebody at a terminal.
    fn tell(&mut self, clock: &Clock, next: u64, now: u64) {
        let is_time = self.told.is_none_or(|told| told.elapsed() >= PROGRESS);
        if !is_time || !std::io::stderr().is_terminal() {
            return;
        }
        self.told = Some(Instant::now());
        let at = next.saturating_sub(clock.first) as f64 / 1e9;
        let behind = now.saturating_sub(clock.live(next)) as f64 / 1e9;
        let behind = if behind > 1.0 { format!(", {behind:.1} s behind") } else { String::new() };
        let lap = if self.lap > 1 { format!("time {}, ", self.lap) } else { String::new() };
        eprint!("\r\x1b[K{lap}{at:.1} s of the recording, {} samples{behind}", self.sent().samples);
        let _ = std::io::stderr().flush();
    }

    fn end_progress(&self) {
        if self.told.is_some() {
            eprintln!();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_times_move_to_now_and_closer_together() {
        let clock = Clock { speed: "10".parse().unwrap(), first: 1_000, began: 50_000 };
        assert_eq!([900, 1_000, 1_010, 2_000].map(|time| clock.live(time)), [50_000, 50_000, 50_001, 50_100]);
    }
}
