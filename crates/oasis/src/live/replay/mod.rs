//! `oasis replay`: plays back a recording through the whole stack as if it were live.
//!
//! The crate `oasis-recordings` plays; this module finds the recording, and reports progress on standard error.

mod arguments;

pub use arguments::Arguments;

use crate::{
    live::serve::Stop,
    progress::Progress,
    target::{self, Target},
    time_flag,
};
use anyhow::{Context, bail};
use oasis_dac::now;
use oasis_format::visible::Visible;
use oasis_recordings::replay::{Dac, Event, Playback, ReplayTotals, Stage, Track, is_replay, replayed_name};
use oasis_store::History;
use oasis_tls::ClientFiles;
use std::{
    collections::BTreeMap,
    ops::Range,
    path::Path,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};
use tokio::{sync::oneshot, time::timeout};

/// Timeout of a replay after a request to stop, whatever the network does. The DAC has less to acknowledge the last samples.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// Plays until the end, or until a request to stop.
pub async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let mut stop = Stop::listen()?;
    let has_stopped = Arc::new(AtomicBool::new(false));
    let stop_flag = has_stopped.clone();
    let (ended, mut playing) = oneshot::channel();
    // A separate thread: the end of the process does not wait for the network.
    thread::Builder::new().name("oasis-replay".into()).spawn(move || {
        // The receiver is closed after the timeout.
        let _ = ended.send(play(&arguments, &stop_flag));
    })?;
    tokio::select! {
        played = &mut playing => return played.context("the replay panicked")?,
        () = stop.requested() => has_stopped.store(true, Ordering::Relaxed),
    }
    let mut again = Stop::listen()?;
    tokio::select! {
        played = timeout(STOP_TIMEOUT, playing) => match played {
            Ok(played) => played.context("the replay panicked")?,
            Err(_) => bail!("no answer from the DAC: the last samples may be missing"),
        },
        () = again.requested() => bail!("stopped at once: the last samples may be missing"),
    }
}

fn play(arguments: &Arguments, has_stopped: &AtomicBool) -> anyhow::Result<()> {
    let (history, span) = recording(arguments)?;
    let stages = stages(&history, arguments, &span)?;
    let mut progress = Progress::new();
    let mut playback =
        Playback::new(stages, arguments.speed, has_stopped, |event| report(&mut progress, event));
    let ended = playback.play(arguments.is_loop);
    let played = playback.played();
    progress.clear();
    eprintln!("{}", summary(played));
    Ok(ended?)
}

/// Prints events, and the position as a progress line.
fn report(progress: &mut Progress, event: Event) {
    let line = match event {
        Event::At { lap, seconds, samples, lag } => {
            return progress.show(|| {
                let lap = if lap > 1 { format!("time {lap}, ") } else { String::new() };
                let lag = if lag > 1.0 { format!(", {lag:.1} s behind") } else { String::new() };
                format!("{lap}{seconds:.1} s of the recording, {samples} samples{lag}")
            });
        }
        Event::Lost { node, why } => {
            format!(
                "{} lost its connection: {why}. The replay pauses until the DAC is reachable",
                Visible(&node)
            )
        }
        Event::Back { paused, again } => format!(
            "connected again after {:.1} s: {again} samples are sent again, and the replay continues",
            paused.as_secs_f64()
        ),
    };
    progress.clear();
    eprintln!("{line}");
}

fn summary(played: ReplayTotals) -> String {
    let ReplayTotals { samples, missing, unacknowledged } = played;
    let missing = match missing {
        0 => String::new(),
        _ => format!("; {missing} more of their runs were not replayed, and the DAC counts them as missing"),
    };
    let unacknowledged = match unacknowledged {
        0 => String::new(),
        _ => format!("; the DAC has not acknowledged {unacknowledged}"),
    };
    format!("{samples} samples replayed{missing}{unacknowledged}")
}

/// Returns archive and time span of the recording.
fn recording(arguments: &Arguments) -> anyhow::Result<(History, Range<u64>)> {
    let (from, to) = time_flag::span(arguments.from.as_deref(), arguments.to.as_deref())?;
    let what = Path::new(&arguments.what);
    let (history, whole) = if what.join("catalogue.sqlite").is_file() {
        (History::open(what)?, 0..u64::MAX)
    } else {
        let archive = arguments.archive.find().with_context(|| {
            format!(
                "{} is not an archive folder; for the name of a test run, also give its archive",
                arguments.what
            )
        })?;
        let history = History::open(&archive)?;
        let run = history.test_runs().named(&arguments.what).with_context(|| {
            format!("{} is neither a test run of {} nor an archive folder", arguments.what, archive.display())
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
        target::known(history, &arguments.instances)?
    };
    let mut nodes: BTreeMap<String, Vec<Track>> = BTreeMap::new();
    for target in targets {
        if let Some(track) = Track::open(history, &target.node, &target.instance, span.clone())? {
            nodes.entry(target.node).or_default().push(track);
        }
    }
    if nodes.is_empty() {
        bail!("no matching samples: `oasis archive show` lists instances, `oasis run list` test runs");
    }
    for node in nodes.keys() {
        eprintln!("playing {} as {}", Visible(node), Visible(&replayed_name(node)));
    }
    let files = ClientFiles {
        ca: arguments.ca.clone(),
        certificate: arguments.certificate.clone(),
        key: arguments.key.clone(),
    };
    let dac = Rc::new(Dac::at(&arguments.dac).with_files(files));
    Ok(nodes.into_iter().map(|(node, tracks)| Stage::new(&dac, &node, tracks)).collect())
}
