//! Copies samples received since the last round from the topic logs into a segment file.

use super::{MAX_READ_SEGMENTS, PendingWork, ROUND_BYTES, TopicProgress, Writer, lanes::Lane};
use oasis_dac::{Segment, now};
use oasis_handler::series_of;
use oasis_store::{
    account::Condition,
    gap::Gap,
    pace::Pace,
    record,
    segment_file::{SegmentFile, SeriesKey},
};
use oasis_wire::{batch::Header, quantity::Offset};
use std::io;
use uuid::Uuid;

/// Bytes staged before others go first, more in a long round: less than a tenth of a millisecond.
const INITIAL_ROUND_BYTES: usize = 16 * 1024;

/// Instances of which implausible times are logged; the counters have all of them.
const MOST_LOGGED: usize = 64;
/// Bytes staged in one round at least, even if files are smaller.
const LEAST_ROUND_BYTES: u64 = 256 * 1024;

/// Samples of one topic that a round has staged.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// Index of the topic among the followed ones.
    pub at: usize,
    next: Offset,
    samples: u64,
    bytes: u64,
    /// Samples not counted before.
    gaps: Vec<Gap>,
    /// Whether samples are lost, counted before or not.
    has_loss: bool,
    /// Run and number of the last sample.
    last: Option<(Uuid, u64)>,
    /// Samples with implausible times, and one of the times.
    implausible: (u64, u64),
}

impl Writer {
    /// Stages what a lane has, up to `wanted` of each topic.
    pub(super) fn stage(
        &self,
        lane: Lane,
        wanted: &[Offset],
        file: &mut SegmentFile,
        condition: Condition,
    ) -> io::Result<(Vec<Progress>, PendingWork)> {
        let mut all = Vec::new();
        // A file is not much longer than it should be.
        let end = file.length() + ROUND_BYTES.min(self.config.segment_bytes.max(LEAST_ROUND_BYTES));
        let mut pace = Pace::growing_from(INITIAL_ROUND_BYTES);
        for at in self.staging_order() {
            let tracked = &self.tracked[at];
            let Some(&wanted) = wanted.get(at) else { continue };
            if tracked.lane != lane || tracked.next >= wanted {
                continue;
            }
            let mut progress = Progress { at, next: tracked.next, ..Progress::default() };
            while progress.next < wanted && file.length() < end {
                let read = tracked.instance.log.read(progress.next, MAX_READ_SEGMENTS);
                if let Some((_, to)) = read.missed {
                    stage_missed(tracked, (to, condition), file, &mut progress);
                }
                if read.segments.is_empty() {
                    break;
                }
                // No further: the losses before later ones are not listed yet.
                for segment in read.segments.iter().take_while(|segment| segment.first() < wanted) {
                    stage_segment(tracked, segment, file, &mut progress)?;
                    pace.did(record::size_of(segment.batch().len()));
                }
            }
            let lags = progress.next < wanted;
            all.push(progress);
            if lags {
                return Ok((all, PendingWork::Something));
            }
        }
        Ok((all, PendingWork::Nothing))
    }

    /// Returns the topics by index: first the retired ones, in the order of their creation, then the others from the one whose turn it is.
    ///
    /// Readers find the topics of one instance in the order in which they are stored, and a retired one is older than the one that has replaced
    /// it. It gets no more samples, so that the others wait once.
    fn staging_order(&self) -> Vec<usize> {
        let topics = self.tracked.len();
        let is_retired = |at: &usize| self.tracked[*at].instance.is_retired();
        let (mut order, others): (Vec<usize>, Vec<usize>) =
            (0..topics).map(|step| (self.turn + step) % topics).partition(is_retired);
        order.sort_by_key(|at| self.tracked[*at].instance.topic.0);
        order.extend(others);
        order
    }

    /// Takes into the books what was committed.
    pub(super) fn account(&mut self, progress: &[Progress], samples: u64) {
        let (mut bytes, mut missing, mut implausible) = (0, 0, 0);
        let mut with_first = Vec::new();
        self.store.with_accounts(|accounts| {
            for progress in progress {
                let tracked = &mut self.tracked[progress.at];
                tracked.next = progress.next;
                tracked.last = progress.last.or(tracked.last);
                tracked.lost.retain(|gap| gap.to > progress.next);
                let account = accounts.entry(tracked.instance.topic).or_default();
                for gap in &progress.gaps {
                    account.miss(*gap);
                    missing += gap.to.0 - gap.from.0;
                }
                account.store(progress.next, progress.samples, progress.bytes);
                bytes += progress.bytes;
                implausible += progress.implausible.0;
                if account.implausible == 0 && progress.implausible.0 > 0 {
                    with_first.push((tracked.instance.clone(), progress.implausible.1));
                }
                account.implausible += progress.implausible.0;
            }
        });
        for progress in progress {
            let tracked = &self.tracked[progress.at];
            tracked.instance.ledger().note_stored(tracked.next, tracked.last, progress.has_loss);
        }
        self.dac.keeping.note_commit();
        let mut counters = self.store.counters.lock();
        counters.stored += samples;
        counters.bytes_written += bytes;
        counters.missing += missing;
        counters.implausible += implausible;
        drop(counters);
        for (instance, time) in with_first {
            if self.implausible_logged < MOST_LOGGED {
                self.implausible_logged += 1;
                let (node, instance) = (&instance.node, &instance.name);
                tracing::warn!(%node, %instance, time, "implausible times of samples: check the clock of the node");
            }
        }
    }
}

fn key(tracked: &TopicProgress, run: Uuid) -> SeriesKey {
    (tracked.instance.topic, run)
}

/// Stages gaps for samples that the log has evicted up to an offset, each in the series of its run: first those already counted, then later ones.
fn stage_missed(
    tracked: &TopicProgress,
    (to, condition): (Offset, Condition),
    file: &mut SegmentFile,
    progress: &mut Progress,
) {
    progress.has_loss = true;
    let mut stage = |gap: Gap| {
        for (run, offsets) in tracked.instance.log.by_run(gap.from..gap.to) {
            let gap = Gap { from: offsets.start, to: offsets.end, ..gap };
            file.stage_gap(key(tracked, run), || series_of(&tracked.instance, run), gap);
        }
    };
    for gap in &tracked.lost {
        if gap.from >= progress.next {
            stage(*gap);
            progress.next = gap.to;
        }
    }
    if progress.next < to {
        let gap = Gap { from: progress.next, to, cause: condition.cause(), time: now() };
        stage(gap);
        progress.gaps.push(gap);
        progress.next = to;
    }
}

fn stage_segment(
    tracked: &TopicProgress,
    segment: &Segment,
    file: &mut SegmentFile,
    progress: &mut Progress,
) -> io::Result<()> {
    let run = segment.run();
    let times = file.stage(
        key(tracked, run),
        || series_of(&tracked.instance, run),
        segment.batch(),
        (segment.first(), segment.count()),
    )?;
    let window = file.window();
    if window.of(times) != Some(times) {
        let times = oasis_wire::batch::times(segment.batch()).unwrap_or_default();
        let mut wrong = times.into_iter().filter(|time| !window.contains(*time)).peekable();
        progress.implausible.1 = wrong.peek().copied().unwrap_or_default();
        progress.implausible.0 += wrong.count() as u64;
    }
    progress.next = segment.end();
    if let Ok(head) = Header::parse(segment.batch()) {
        let last = head.first_sequence.saturating_add(u64::from(segment.count()).saturating_sub(1));
        progress.last = Some((run, last));
    }
    progress.samples += u64::from(segment.count());
    progress.bytes += segment.batch().len() as u64;
    Ok(())
}
