//! Archives of some nodes whose clocks stand still, jump back and jump ahead.

use fastrand::Rng;
use oasis_recordings::import::Import;
use oasis_store::{ArchiveConfig, Series, open};
use oasis_wire::{
    batch::{Encoder, Fields},
    probe_kind::ProbeKind,
    quantity::Epoch,
    schema::ProbeType,
    value::RowWriter,
};
use std::{env, path::Path, sync::Arc};
use uuid::Uuid;

/// When the clocks of these nodes begin: small, so that equal times are frequent.
pub const EPOCH: u64 = 1_000;

/// A number of the environment.
pub fn number(variable: &str, default: u64) -> u64 {
    env::var(variable).map_or(default, |text| text.parse().unwrap())
}

/// Makes archives.
pub struct Plant {
    pub probe_type: Arc<ProbeType>,
    has_all_metrics: bool,
}

impl Default for Plant {
    /// With one metric, `value`: the sequence number.
    fn default() -> Self {
        Self::new(r#"{"name": "value", "type": "uint32"}"#, false)
    }
}

impl Plant {
    /// With a metric of each kind that SQL compares.
    pub fn with_all_metrics() -> Self {
        let metrics = r#"{"name": "value", "type": "uint32"}, {"name": "level", "type": "real64"},
            {"name": "count", "type": "int64"}, {"name": "text", "type": "string"}"#;
        Self::new(metrics, true)
    }

    fn new(metrics: &str, has_all_metrics: bool) -> Self {
        let json = format!(
            r#"{{"name": "Probe", "uuid": "2f1c7c1e-6f0b-4f4e-9a51-6f1c0e6a2d12", "version": "1.0", "metrics": [{metrics}]}}"#
        );
        Self { probe_type: serde_json::from_str::<ProbeType>(&json).unwrap().into(), has_all_metrics }
    }

    /// A batch with these times.
    pub fn batch(&self, first_sequence: u64, times: &[u64]) -> Vec<u8> {
        let mut encoder = Encoder::new(&self.probe_type).unwrap();
        for (at, time) in times.iter().enumerate() {
            let (mut row, value) = (Vec::new(), first_sequence as u32 + at as u32);
            let mut writer = RowWriter::new(&mut row);
            writer.u32(value);
            if self.has_all_metrics {
                let of_time = f64::from(value) * 0.5 - (time % 50) as f64;
                writer.f64(if value % 11 == 0 { f64::NAN } else { of_time });
                writer.i64(20 - i64::from(value));
                writer.string(["a", "b%", "äz", ""][value as usize % 4]);
            }
            encoder.push(*time, &row).unwrap();
        }
        let mut batch = Vec::new();
        encoder.finish(Fields { topic: 1, first_sequence, ..Fields::default() }, &mut batch);
        batch
    }

    /// Adds an import to the archive: runs of some instances.
    pub fn import(&self, folder: &Path, random: &mut Rng) {
        let directory = folder.display().to_string();
        let mut import =
            Import::begin(open(ArchiveConfig { directory, ..ArchiveConfig::default() }).unwrap()).unwrap();
        for _ in 0..random.usize(1..4) {
            let series = Series {
                node: ["plant", "boiler"][random.usize(..2)].into(),
                instance: ["a", "b"][random.usize(..2)].into(),
                kind: ProbeKind::Pushed,
                run: Uuid::from_u128(random.u128(..)),
                epoch: Epoch(1),
                probe_type: self.probe_type.clone(),
            };
            let (mut time, mut sequence) = (EPOCH + random.u64(..200), 1);
            for _ in 0..random.usize(1..8) {
                let times: Vec<u64> = (0..random.usize(1..12)).map(|_| next(&mut time, random)).collect();
                import.add(&series, &self.batch(sequence, &times)).unwrap();
                sequence += times.len() as u64 + random.u64(..3);
            }
        }
        import.finish().unwrap();
    }
}

/// Moves a clock.
fn next(time: &mut u64, random: &mut Rng) -> u64 {
    *time = match random.u8(..8) {
        0 => time.saturating_sub(random.u64(..150)),
        1 => *time + random.u64(..150),
        2 => *time,
        _ => *time + random.u64(1..5),
    };
    *time
}
