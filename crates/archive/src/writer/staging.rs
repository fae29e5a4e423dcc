//! What has come since the last round, from the topic logs into a segment file.

use super::{Left, READ, ROUND_BYTES, Tracked, Writer};
use crate::{
    account::Condition,
    index::Gap,
    segment_file::{SegmentFile, SeriesKey},
    series::Series,
};
use oasis_dac::{Segment, now};
use oasis_wire::quantity::Offset;
use std::io;
use uuid::Uuid;

/// What a round has staged of one topic.
#[derive(Debug)]
pub(super) struct Progress {
    /// Place of the topic among those that are followed.
    pub at: usize,
    next: Offset,
    samples: u64,
    bytes: u64,
    gaps: Vec<Gap>,
}

impl Writer {
    /// Stages what a rule has, up to `wanted` of each topic.
    pub(super) fn stage(
        &self,
        rule: usize,
        wanted: &[Offset],
        file: &mut SegmentFile,
        condition: Condition,
    ) -> io::Result<(Vec<Progress>, Left)> {
        let mut all = Vec::new();
        let end = file.length() + ROUND_BYTES;
        let topics = self.tracked.len();
        for step in 0..topics {
            let at = (self.turn + step) % topics;
            let tracked = &self.tracked[at];
            let Some(&wanted) = wanted.get(at) else { continue };
            if tracked.rule != rule || tracked.next >= wanted {
                continue;
            }
            let mut progress = Progress { at, next: tracked.next, samples: 0, bytes: 0, gaps: Vec::new() };
            while progress.next < wanted && file.length() < end {
                let read = tracked.instance.log.read(progress.next, READ);
                if let Some((from, to)) = read.missed {
                    let run = read.segments.first().map_or(Uuid::nil(), |segment| segment.run());
                    let gap = Gap { from, to, cause: condition.cause(), time: now() };
                    file.stage_gap(key(tracked, run), || Series::of(&tracked.instance, run), gap);
                    progress.gaps.push(gap);
                    progress.next = to;
                }
                if read.segments.is_empty() {
                    break;
                }
                for segment in &read.segments {
                    stage_segment(tracked, segment, file, &mut progress)?;
                }
            }
            let is_behind = progress.next < wanted;
            all.push(progress);
            if is_behind {
                return Ok((all, Left::Something));
            }
        }
        Ok((all, Left::Nothing))
    }

    /// Takes into the books what was committed.
    pub(super) fn account(&mut self, progress: &[Progress], samples: u64) {
        let (mut bytes, mut missing) = (0, 0);
        self.store.with_accounts(|accounts| {
            for progress in progress {
                let tracked = &mut self.tracked[progress.at];
                tracked.next = progress.next;
                let account = accounts.entry(tracked.instance.topic).or_default();
                for gap in &progress.gaps {
                    account.miss(*gap);
                    missing += gap.to.0 - gap.from.0;
                }
                account.store(progress.next, progress.samples, progress.bytes);
                bytes += progress.bytes;
            }
        });
        let mut book = self.store.book.open();
        book.stored += samples;
        book.bytes_written += bytes;
        book.missing += missing;
    }
}

fn key(tracked: &Tracked, run: Uuid) -> SeriesKey {
    (tracked.instance.topic, run)
}

fn stage_segment(
    tracked: &Tracked,
    segment: &Segment,
    file: &mut SegmentFile,
    progress: &mut Progress,
) -> io::Result<()> {
    let run = segment.run();
    file.stage(key(tracked, run), || Series::of(&tracked.instance, run), segment)?;
    progress.next = segment.end();
    progress.samples += u64::from(segment.count());
    progress.bytes += segment.batch().len() as u64;
    Ok(())
}
