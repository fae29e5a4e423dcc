//! One round: what has come is evaluated, on several threads if it is much, and silence is noticed.
//!
//! The results of a round do not depend on the number of threads. Which instances it evaluates, and how far, is planned first; each of them is evaluated by
//! one
//! thread alone; and what they find is put together in the order of the plan.

use super::{CHECKPOINT_INTERVAL, MAX_WAIT, Work, commits::RETRY_DELAY};
use crate::{
    bounds::{Budget, RoundBounds},
    ruleset::RuleSet,
    source::{EvaluationContext, EvaluationOutput, Source},
    threads::Threads,
};
use oasis_dac::{Dac, now};
use oasis_handler::StoredSamples;
use oasis_store::ReadError;
use oasis_wire::quantity::{Nanos, TopicId};
use std::{
    io,
    sync::Arc,
    time::{Duration, Instant},
};

/// Timeout of evaluating the last samples at a stop.
const STOP_TIMEOUT: Duration = Duration::from_secs(1);

/// The threads that evaluate instances beside the coordinator.
pub type Evaluators = Threads<Share, Vec<Evaluated>>;

/// Instances of a round that belong to one thread until it gives them back.
pub struct Share {
    /// With their places in the plan.
    sources: Vec<(usize, TopicId, Source)>,
    dac: Arc<Dac>,
    set: Arc<RuleSet>,
    before: u64,
    now: Nanos,
    budget: Budget,
}

/// An instance that was evaluated, and what it has found.
pub struct Evaluated {
    place: usize,
    topic: TopicId,
    source: Source,
    advanced: Advanced,
}

/// Results of an instance in a round.
struct Advanced {
    found: EvaluationOutput,
    has_more: Result<bool, ReadError>,
    deadline: Option<u64>,
}

/// An instance in the plan of a round, with its evaluations.
struct Planned {
    topic: TopicId,
    work: u64,
}

/// Starts the threads of a handler that evaluates on `threads` threads, its own one among them.
///
/// # Errors
/// If the system refuses a thread.
pub fn start(threads: usize, archive: Option<&Arc<dyn StoredSamples>>) -> io::Result<Evaluators> {
    let evaluator = || {
        let archive = archive.cloned();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(move |share: Share| {
            share.evaluate(&|| {
                if let Some(archive) = &archive {
                    drop(runtime.block_on(archive.flush()));
                }
            })
        })
    };
    let evaluators: Vec<_> = (1..threads).map(|_| evaluator()).collect::<io::Result<_>>()?;
    Threads::start("rules", evaluators)
}

impl Share {
    fn evaluate(self, flush: &dyn Fn()) -> Vec<Evaluated> {
        let Self { sources, dac, set, before, now, budget } = self;
        let around = EvaluationContext { dac: &dac, set: &set, before, now };
        let evaluate = |(place, topic, mut source): (usize, TopicId, Source)| {
            let advanced = advance(&mut source, around, budget, flush);
            Evaluated { place, topic, source, advanced }
        };
        sources.into_iter().map(evaluate).collect()
    }
}

fn advance(source: &mut Source, around: EvaluationContext<'_>, budget: Budget, flush: &dyn Fn()) -> Advanced {
    let mut found = EvaluationOutput::default();
    let has_more = source.advance(around, budget, flush, &mut found);
    Advanced { found, has_more, deadline: source.deadline(around.set) }
}

/// Returns the number of threads, of at most `threads`, that are worth it.
fn worth(plan: &[Planned], threads: usize, bounds: &RoundBounds) -> usize {
    let total: u64 = plan.iter().map(|planned| planned.work).sum();
    let worth = usize::try_from(total / bounds.of_thread.max(1)).unwrap_or(usize::MAX);
    threads.min(worth).min(plan.len())
}

/// Gives each of `threads` threads about the same work. Returns the places in the plan of each thread.
fn deal(plan: &[Planned], threads: usize) -> Vec<Vec<usize>> {
    let mut shares = vec![(0, Vec::new()); threads];
    let mut places: Vec<(usize, u64)> = plan.iter().map(|planned| planned.work).enumerate().collect();
    places.sort_by_key(|(_, work)| std::cmp::Reverse(*work));
    for (place, work) in places {
        if let Some((sum, share)) = shares.iter_mut().min_by_key(|(sum, _)| *sum) {
            *sum += work;
            share.push(place);
        }
    }
    shares.into_iter().map(|(_, share)| share).collect()
}

impl Work<'_> {
    /// Evaluates what has come, and notices silence.
    pub(super) fn round(&mut self, is_last: bool) {
        if !self.pending.is_empty() {
            return;
        }
        if self.has_facts {
            self.shared.lock().failure = None;
        }
        self.waiting.extend(self.ready.take());
        let (now, mut found) = (now(), EvaluationOutput::default());
        self.evaluate(now, &mut found);
        self.notice_silence(now, &mut found);
        self.round_joints(now, is_last, &mut found);
        self.note(found);
        if is_last || self.kept.elapsed() >= CHECKPOINT_INTERVAL {
            self.checkpoint_dirty();
        }
    }

    /// Evaluates what came before the end, for a while.
    pub(super) fn drain(&mut self) {
        let begin = Instant::now();
        while begin.elapsed() < STOP_TIMEOUT {
            // A round begins with nothing to commit.
            self.commit();
            if self.must_wait() {
                return;
            }
            self.pending.retry = None;
            self.round(false);
            self.commit();
            if self.waiting.is_empty() && !self.joints.is_behind {
                return;
            }
        }
    }

    /// Takes the instances of a round out of those that wait. Those that had to wait come first in the next one.
    fn plan(&mut self) -> Vec<Planned> {
        let first = self.next_topic.take().unwrap_or(TopicId(0));
        let (mut plan, mut sum) = (Vec::new(), 0_u64);
        for topic in self.waiting.range(first..).chain(self.waiting.range(..first)) {
            if sum >= self.bounds.of_all {
                self.next_topic = Some(*topic);
                break;
            }
            if let Some(source) = self.sources.get(topic) {
                let work = source.work().min(self.bounds.of_instance);
                sum += work;
                plan.push(Planned { topic: *topic, work });
            }
        }
        match self.next_topic {
            Some(_) => {
                for planned in &plan {
                    self.waiting.remove(&planned.topic);
                }
            }
            None => self.waiting.clear(),
        }
        plan
    }

    fn evaluate(&mut self, now: Nanos, found: &mut EvaluationOutput) {
        let plan = self.plan();
        let budget = self.bounds.of_each(plan.len());
        let threads = worth(&plan, self.evaluators.len() + 1, &self.bounds);
        if threads > 1 {
            return self.evaluate_shares(&plan, deal(&plan, threads), (now, budget), found);
        }
        for Planned { topic, .. } in plan {
            let advanced =
                self.with_source(topic, now, |source, around, flush| advance(source, around, budget, flush));
            if let Some(advanced) = advanced {
                self.take_found(topic, advanced, found);
            }
        }
    }

    /// Evaluates on several threads, of which this is one.
    fn evaluate_shares(
        &mut self,
        plan: &[Planned],
        shares: Vec<Vec<usize>>,
        (now, budget): (Nanos, Budget),
        found: &mut EvaluationOutput,
    ) {
        let mut share_of = |places: Vec<usize>| {
            let mut take = |place: usize| {
                let topic = plan.get(place)?.topic;
                Some((place, topic, self.sources.remove(&topic)?))
            };
            let sources = places.into_iter().filter_map(&mut take).collect();
            let (dac, set, before) = (self.dac.clone(), self.set.clone(), self.before);
            Share { sources, dac, set, before, now, budget }
        };
        let mut shares: Vec<Share> = shares.into_iter().map(&mut share_of).collect();
        let own = shares.pop();
        let (archive, runtime) = (self.archive.as_ref(), &self.runtime);
        let flush = || {
            if let Some(archive) = archive {
                drop(runtime.block_on(archive.flush()));
            }
        };
        let reading = self.pulse.begin("read samples for rules");
        let (own, others) = self.evaluators.share(shares, || own.map(|own| own.evaluate(&flush)));
        drop(reading);
        let mut evaluated: Vec<Evaluated> = own.into_iter().chain(others).flatten().collect();
        evaluated.sort_by_key(|evaluated| evaluated.place);
        for Evaluated { topic, source, advanced, .. } in evaluated {
            self.sources.insert(topic, source);
            self.take_found(topic, advanced, found);
        }
    }

    fn take_found(&mut self, topic: TopicId, advanced: Advanced, found: &mut EvaluationOutput) {
        self.deadlines.set(topic, advanced.deadline);
        found.append(advanced.found);
        match advanced.has_more {
            Ok(false) => {}
            Ok(true) => {
                self.waiting.insert(topic);
            }
            Err(error) => self.fail_reading(topic, &error),
        }
    }

    fn fail_reading(&mut self, topic: TopicId, error: &ReadError) {
        self.shared.lock().failure = Some(format!("cannot read the archive: {error}"));
        self.waiting.insert(topic);
        self.pending.retry = Some(Instant::now() + RETRY_DELAY);
    }

    fn notice_silence(&mut self, now: Nanos, found: &mut EvaluationOutput) {
        let due = if self.homes.hears() { self.deadlines.due(now.0) } else { Vec::new() };
        for topic in due {
            let is_full = found.events.len() >= self.bounds.events || found.bytes >= self.bounds.bytes;
            // Samples that wait come first.
            if is_full || self.waiting.contains(&topic) {
                continue;
            }
            let budget = self.bounds.of_each(1);
            let passed = self.with_source(topic, now, |source, around, flush| {
                let mut found = EvaluationOutput::default();
                let has_more = source.pass(around, now.0, budget, flush, &mut found);
                Advanced { found, has_more, deadline: source.deadline(around.set) }
            });
            let Some(passed) = passed else { continue };
            let has_silence = passed.found.has_silence;
            self.take_found(topic, passed, found);
            // After a crash the sample that ends the silence must find it.
            if has_silence {
                self.checkpoint(topic);
            }
        }
    }

    /// Lets a source do something.
    fn with_source<T>(
        &mut self,
        topic: TopicId,
        now: Nanos,
        act: impl FnOnce(&mut Source, EvaluationContext<'_>, &dyn Fn()) -> T,
    ) -> Option<T> {
        let source = self.sources.get_mut(&topic)?;
        let _reading = self.pulse.begin("read samples for rules");
        let (archive, runtime) = (self.archive.as_ref(), &self.runtime);
        let flush = || {
            if let Some(archive) = archive {
                drop(runtime.block_on(archive.flush()));
            }
        };
        let around = EvaluationContext { dac: &self.dac, set: &self.set, before: self.before, now };
        Some(act(source, around, &flush))
    }

    fn note(&mut self, mut found: EvaluationOutput) {
        if !found.derived.is_empty() {
            self.give_derived(std::mem::take(&mut found.derived));
        }
        // Stable: what one batch gives stays in the order of its samples.
        found.events.sort_by(|one, other| {
            (one.dac_time, &one.node, &one.instance).cmp(&(other.dac_time, &other.node, &other.instance))
        });
        self.pending.events.append(&mut found.events);
        // Looking at all that wait takes longer than a round if they are many.
        if self.waiting.is_empty() || self.counted.elapsed() >= MAX_WAIT {
            let waiting = self.waiting.iter().filter_map(|topic| self.sources.get(topic));
            (self.behind, self.counted) = (waiting.map(Source::behind).sum(), Instant::now());
        }
        let mut state = self.shared.lock();
        state.samples += found.samples;
        state.missing = state.missing.saturating_add(found.missing);
        state.unreadable += found.unreadable;
        state.behind = self.behind;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(work: &[u64]) -> Vec<Planned> {
        (0..).zip(work).map(|(topic, work)| Planned { topic: TopicId(topic), work: *work }).collect()
    }

    #[test]
    fn threads_get_about_the_same_work() {
        assert_eq!(deal(&plan(&[300, 100, 200, 400]), 2), [vec![3, 1], vec![0, 2]]);
        assert_eq!(deal(&plan(&[100; 6]), 3), [vec![0, 3], vec![1, 4], vec![2, 5]]);
    }

    #[test]
    fn little_work_stays_on_one_thread() {
        let bounds = RoundBounds { of_thread: 100, ..RoundBounds::default() };
        let threads = |work: &[u64], threads| worth(&plan(work), threads, &bounds);
        assert_eq!(threads(&[], 4), 0);
        assert_eq!(threads(&[50, 50, 50], 4), 1);
        assert_eq!(threads(&[50, 50, 50, 50], 4), 2);
        assert_eq!(threads(&[1_000, 1_000], 4), 2, "an instance is not divided");
        assert_eq!(threads(&[500, 500], 1), 1);
    }
}
