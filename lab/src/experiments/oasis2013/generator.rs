//! The probes of the publications without `/proc`: pushed probes of the same types that flush recorded rows in bursts, at a rate or as fast as their rings take them.

use super::daemon::{INSTANCES, NODE};
use crate::order::ready;
use anyhow::{Context, ensure};
use oasis_probe::{NodeBuilder, NodeConfig, Overflow, Probe, PushedProbe, RingConfig, Sample, TcpConnector};
use oasis_probes::{Memory, Processor};
use std::{
    fmt, io,
    str::FromStr,
    thread,
    time::{Duration, Instant},
};

/// Rows that are recorded before the start, and flushed again and again.
const RECORDED: usize = 512;
/// Between two of them, so that their values differ as those of a machine at work.
const RECORD_INTERVAL: Duration = Duration::from_micros(500);
/// From one burst to the next.
const BURST_INTERVAL: Duration = Duration::from_millis(1);
/// Samples of one burst as fast as possible.
const BURST_SAMPLES: u64 = 1_024;
/// Room for some ten milliseconds of a million samples a second.
const RING: usize = 4 * 1024 * 1024;
/// As fast as possible.
const MAX: &str = "max";
/// A full ring means that the node lags: the generator waits, so that nothing is dropped.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// Flushes samples of both probes in turn.
#[derive(Debug)]
pub struct Generator {
    pace: Pace,
    flushes: u64,
}

/// One probe: recorded rows, and how many were flushed.
struct Tape<S> {
    probe: PushedProbe<S>,
    rows: Vec<S>,
    flushed: u64,
}

impl Generator {
    /// A generator that flushes each probe at this pace, and stops after `flushes` samples of each.
    pub fn new(pace: Pace, flushes: Option<u64>) -> Self {
        Self { pace, flushes: flushes.unwrap_or(u64::MAX) }
    }

    /// Flushes until there is no more input.
    pub fn run(&self, channel: &str) -> anyhow::Result<()> {
        let mut builder = NodeBuilder::new(NODE, NodeConfig::default());
        let [(_, processor), (_, memory)] = INSTANCES;
        let mut processor = Tape::record(&mut builder, processor, Processor::default())?;
        let mut memory = Tape::record(&mut builder, memory, Memory::default())?;
        let node = builder.start(TcpConnector::new(channel))?;
        ready(&[])?;
        let (pace, flushes) = (self.pace, self.flushes);
        // The thread ends with the process: a disabled probe takes nothing.
        thread::Builder::new().name("generator".into()).spawn(move || {
            pace.run(|count| {
                // Both, whatever the other one does.
                let flushed = [processor.flush(count, flushes), memory.flush(count, flushes)];
                flushed.contains(&true)
            });
        })?;
        io::copy(&mut io::stdin().lock(), &mut io::sink())?;
        node.shutdown();
        Ok(())
    }
}

impl<S: Sample> Tape<S> {
    fn record(
        builder: &mut NodeBuilder,
        instance: &str,
        mut source: impl Probe<Sample = S>,
    ) -> anyhow::Result<Self> {
        let probe =
            builder.pushed(instance, RingConfig { bytes: RING, overflow: Overflow::Block(FLUSH_TIMEOUT) })?;
        builder.disabled(instance)?;
        let mut row = || {
            thread::sleep(RECORD_INTERVAL);
            source.sample().with_context(|| format!("cannot record {instance}"))
        };
        let rows = (0..RECORDED).map(|_| row()).collect::<anyhow::Result<_>>()?;
        Ok(Self { probe, rows, flushed: 0 })
    }

    /// Flushes the next rows if the probe is enabled, up to `most` in all. Returns whether it did.
    fn flush(&mut self, count: u64, most: u64) -> bool {
        let count = if self.probe.is_enabled() { count.min(most - self.flushed) } else { 0 };
        for number in self.flushed..self.flushed + count {
            self.probe.flush(&self.rows[(number % RECORDED as u64) as usize]);
        }
        self.flushed += count;
        count > 0
    }
}

/// Number of samples that are due at a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// Samples a second; none for as fast as possible.
    pub hertz: Option<f64>,
}

impl FromStr for Pace {
    type Err = anyhow::Error;

    /// A number, or `max`.
    fn from_str(text: &str) -> anyhow::Result<Self> {
        let hertz =
            (text != MAX).then(|| text.parse()).transpose().context("write a rate in hertz, or max")?;
        ensure!(hertz.is_none_or(|hertz: f64| hertz > 0.0 && hertz.is_finite()), "the rate is {text}");
        Ok(Self { hertz })
    }
}

impl fmt::Display for Pace {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.hertz {
            Some(hertz) => hertz.fmt(out),
            None => out.write_str(MAX),
        }
    }
}

impl Pace {
    /// Samples that are due in all after this time.
    fn due(&self, elapsed: Duration) -> Option<u64> {
        self.hertz.map(|hertz| (elapsed.as_secs_f64() * hertz) as u64)
    }

    /// Has samples flushed, for ever. `flush` returns whether any were taken.
    fn run(&self, mut flush: impl FnMut(u64) -> bool) -> ! {
        let (began, mut done) = (Instant::now(), 0);
        loop {
            let due = self.due(began.elapsed());
            let count = due.map_or(BURST_SAMPLES, |due| due - done);
            done = due.unwrap_or_default();
            // As fast as possible, a full ring is the pause.
            if !flush(count) || due.is_some() {
                thread::sleep(BURST_INTERVAL);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_makes_samples_due_and_no_rate_makes_them_due_at_once() {
        let pace = |text: &str| text.parse::<Pace>();
        let (some, none) = (pace("500000").expect("a rate"), pace("max").expect("no rate"));
        assert_eq!(some.due(Duration::from_millis(2)), Some(1_000));
        assert_eq!(none.due(Duration::from_secs(1)), None);
        assert_eq!([some.to_string(), none.to_string()], ["500000", "max"]);
        assert!(["0", "-1", "inf", "fast"].into_iter().all(|text| pace(text).is_err()));
    }

    #[test]
    fn a_tape_stops_after_its_samples_and_takes_nothing_while_it_is_disabled() {
        let mut builder = NodeBuilder::new("node", NodeConfig::default());
        let mut tape = Tape::record(&mut builder, "memory", Memory::default()).expect("rows");
        assert!(!tape.flush(10, 15), "it is disabled");
        tape.probe = NodeBuilder::new("node", NodeConfig::default()).pushed("memory", RING).expect("a probe");
        assert!(tape.flush(10, 15) && tape.flush(10, 15) && !tape.flush(10, 15));
        assert_eq!(tape.flushed, 15);
    }
}
