//! Cost of a day of a probe that takes one sample a second, on the disk and in queries, before and after its small
//! batches are grouped:
//! `cargo run --release -p oasis-store --example slow_probes`.

use oasis_rollup::{
    cells::Level,
    points::{Points, Span},
};
use oasis_store::{
    ArchiveConfig, History, Newest, PastItem, Series, WritableStore, open, segment_file::SegmentFile,
};
use oasis_wire::{
    batch::{Batch, Encoder, Fields, stamp},
    probe_kind::ProbeKind,
    quantity::{Epoch, Offset, Position, TopicId},
    schema::ProbeType,
    value::{self, Value},
};
use std::{
    error::Error,
    fs,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};
use uuid::Uuid;

type Done<T> = Result<T, Box<dyn Error>>;

const START: u64 = 1_777_896_000_000_000_000;
const NANOS_PER_SECOND: u64 = 1_000_000_000;
const HOURS: u64 = 24;
const EPOCH: Epoch = Epoch(7);
const TIMES: usize = 5;

fn main() -> Done<()> {
    let folder = tempfile::tempdir()?;
    let config = ArchiveConfig {
        directory: folder.path().display().to_string(),
        min_free_bytes: 0,
        ..ArchiveConfig::default()
    };
    let mut writing = Writing::new()?;
    for hour in 1..=HOURS {
        writing.file(folder.path(), hour)?;
    }
    let opened = open(config)?;
    let before = measure(&opened, folder.path())?;
    // The catalogue is locked for one query.
    let segments = opened.store.catalogue().segments()?;
    for segment in segments {
        opened.store.group(&segment, || true)?;
    }
    let after = measure(&opened, folder.path())?;
    println!("{:34} {:>10} {:>10}", "of a day at 1 Hz, seven counters", "before", "after");
    for ((what, before), (_, after)) in before.iter().zip(&after) {
        println!("{what:34} {before:>10} {after:>10}");
    }
    Ok(())
}

/// A processor's times, and the noise of a host that is not busy.
struct Writing {
    series: Series,
    noise: u64,
    counters: [u64; 7],
    sample: u64,
}

impl Writing {
    fn new() -> Done<Self> {
        let names = [
            "idle_time",
            "system_time",
            "user_time",
            "nice_time",
            "iowait_time",
            "irq_time",
            "soft_irq_time",
        ];
        let metrics: Vec<_> =
            names.iter().map(|name| format!(r#"{{"name": "{name}", "type": "uint64"}}"#)).collect();
        let json = format!(
            r#"{{"name": "Processor", "uuid": "b049990b-17aa-4ca2-8806-e89329963788", "version": "1.1", "metrics": [{}]}}"#,
            metrics.join(",")
        );
        let probe_type: ProbeType = serde_json::from_str(&json)?;
        let series = Series {
            node: "plant".into(),
            instance: "processor".into(),
            kind: ProbeKind::Periodic,
            run: Uuid::from_u128(1),
            epoch: EPOCH,
            probe_type: Arc::new(probe_type),
        };
        Ok(Self {
            series,
            noise: 88_172_645_463_325_252,
            counters: [9_000_000, 40_000, 60_000, 0, 900, 0, 300],
            sample: 0,
        })
    }

    /// An hour of samples, a batch each.
    fn file(&mut self, folder: &Path, number: u64) -> Done<()> {
        let mut file = SegmentFile::create(folder, number, EPOCH)?;
        let mut encoder = Encoder::new(&self.series.probe_type)?;
        let (mut row, mut batch) = (Vec::new(), Vec::new());
        for _ in 0..3_600 {
            let time = START + self.sample * NANOS_PER_SECOND + self.delay(60_000);
            let busy = self.delay(12);
            let system = busy / 3;
            let more = [200 - busy, system, busy - system, 0, u64::from(busy > 20), 0, u64::from(busy > 14)];
            self.counters.iter_mut().zip(more).for_each(|(counter, more)| *counter += more);
            value::write_row(&self.series.probe_type, &self.counters.map(Value::Uint), &mut row);
            encoder.push(time, &row)?;
            let node_time = time + 15_000 + self.delay(20_000);
            let fields = Fields { topic: 3, first_sequence: self.sample + 1, node_time, ..Fields::default() };
            batch.clear();
            encoder.finish(fields, &mut batch);
            stamp(&mut batch, self.sample, node_time + 80_000 + self.delay(60_000));
            let key = (TopicId(3), self.series.run);
            file.stage(key, || self.series.clone(), &batch, (Offset(self.sample), 1))?;
            self.sample += 1;
        }
        file.finish_writing()?;
        file.commit()?;
        file.seal()?;
        Ok(())
    }

    /// An exponentially distributed delay with this mean.
    fn delay(&mut self, mean: u64) -> u64 {
        self.noise ^= self.noise << 13;
        self.noise ^= self.noise >> 7;
        self.noise ^= self.noise << 17;
        let uniform = (self.noise >> 11) as f64 / (1_u64 << 53) as f64;
        (-(1.0 - uniform).ln() * mean as f64).min(200.0_f64.max(mean as f64 * 8.0)) as u64 % (mean * 9)
    }
}

fn measure(opened: &WritableStore, folder: &Path) -> Done<Vec<(&'static str, String)>> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let is_segment = entry.path().extension().is_some_and(|ending| ending == "oseg");
        bytes += if is_segment { entry.metadata()?.len() } else { 0 };
    }
    let samples = HOURS * 3_600;
    let history = opened.history();
    let shown = |took: Duration| format!("{:.1} ms", took.as_secs_f64() * 1e3);
    Ok(vec![
        ("bytes a sample", format!("{:.2}", bytes as f64 / samples as f64)),
        (
            "1,500 points of the day",
            shown(median(|| points(&history, START, START + HOURS * 3_600 * NANOS_PER_SECOND))?),
        ),
        (
            "1,500 points of an hour",
            shown(median(|| {
                points(&history, START + 7_000 * NANOS_PER_SECOND, START + 10_600 * NANOS_PER_SECOND)
            })?),
        ),
        ("all, decoded (SQL, export)", shown(median(|| all(&history, true, samples))?)),
        ("all, as they arrived (relay)", shown(median(|| all(&history, false, samples))?)),
        ("the newest 20", shown(median(|| newest(&history))?)),
    ])
}

fn median(mut run: impl FnMut() -> Done<()>) -> Done<Duration> {
    let mut times = Vec::new();
    for _ in 0..TIMES {
        let begun = Instant::now();
        run()?;
        times.push(begun.elapsed());
    }
    times.sort_unstable();
    Ok(times[TIMES / 2])
}

/// From samples, not from roll-ups.
fn points(history: &History, from: u64, to: u64) -> Done<()> {
    let mut points = Points::new(Span { from, to, is_open: false, points: 1_500 }, Level::Raw);
    for extent in history.0.extents("plant", "processor", 0)? {
        if extent.max_time >= from && extent.min_time < to {
            history.0.add_extent(&extent, &mut points)?;
        }
    }
    assert!(points.cells.cells().count() > 1_000);
    Ok(())
}

fn all(history: &History, with_groups: bool, expected: u64) -> Done<()> {
    let past = history.past_from("plant", "processor", 0, None)?;
    let Some(mut past) = past.map(|past| if with_groups { past.with_groups() } else { past }) else {
        return Err("no samples".into());
    };
    let mut samples = 0;
    loop {
        let pieces = past.read(64 * 1024)?;
        if pieces.is_empty() {
            break;
        }
        for piece in pieces {
            let PastItem::Samples { series, batch, wanted, .. } = piece else { continue };
            samples += wanted.end.0 - wanted.start.0;
            if with_groups {
                std::hint::black_box(Batch::parse(&batch, &series.probe_type)?);
            }
        }
    }
    assert_eq!(samples, expected);
    Ok(())
}

fn newest(history: &History) -> Done<()> {
    let before = Position { epoch: EPOCH, offset: Offset(u64::MAX) };
    let past = history.past_newest("plant", "processor", &mut Newest::new(0..u64::MAX, 20), before)?;
    let Some(mut past) = past else { return Err("no samples".into()) };
    assert_eq!(past.read(1 << 20)?.len(), 20);
    Ok(())
}
