//! Every value for other programs, in the formats of `oasis export`: a value over time is a sample, its cell a node, its series an instance.

use super::{
    super::outcome::{CellResult, Series},
    groups::Groups,
};
use anyhow::Context;
use jiff::Timestamp;
use oasis_format::{Source, WriteError, find};
use oasis_wire::{batch::Sample, probe_kind::ProbeKind, quantity::Epoch, schema::ProbeType, value::Value};
use std::{collections::BTreeMap, fs, path::Path, sync::Arc};
use uuid::Uuid;

/// One value.
const VALUE: &str = r#"{"name": "Lab::Value", "uuid": "6d0f5e3e-6f4b-4c52-9c19-0f6a4b8f7c11", "version": "1.0",
    "metrics": [{"name": "value", "type": "real64"}]}"#;
/// A value of a distribution, and how many measurements are at most as large.
const QUANTILE: &str = r#"{"name": "Lab::Quantile", "uuid": "0c1f6a52-7f0e-4a0b-8f3c-5a7d2b9e4d13", "version": "1.0",
    "metrics": [{"name": "percent", "type": "real64"}, {"name": "value", "type": "real64"}]}"#;
/// The formats, and what becomes of one that was not built.
const FORMATS: [&str; 2] = ["csv", "parquet"];

/// Writes `measures.csv`, `series.csv` and so on; returns what was written, or why it was not.
pub fn write(folder: &Path, groups: &Groups) -> anyhow::Result<Vec<String>> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let value: Arc<ProbeType> = Arc::new(serde_json::from_str(VALUE)?);
    let quantile: Arc<ProbeType> = Arc::new(serde_json::from_str(QUANTILE)?);
    let tables = [
        ("measures", measures as Of, &value),
        ("series", series, &value),
        ("distributions", distributions, &quantile),
    ];
    let mut written = Vec::new();
    for format in FORMATS {
        for (name, of, probe_type) in tables {
            if groups.0.iter().flat_map(|group| &group.results).all(|result| of(result).is_empty()) {
                continue;
            }
            let file = folder.join(name).with_extension(format);
            match write_file(&file, format, probe_type, groups, of) {
                Ok(()) => written.push(format!("data/{name}.{format}")),
                Err(error) => {
                    // An empty file would look like data.
                    let _ = fs::remove_file(&file);
                    written.push(format!("data/{name}.{format} not written: {error:#}"));
                }
            }
        }
    }
    Ok(written)
}

/// The series of a result.
type Of = fn(&CellResult) -> BTreeMap<String, Series>;

fn measures(result: &CellResult) -> BTreeMap<String, Series> {
    let measured = result.measured().map(|measured| &measured.measures);
    measured.into_iter().flatten().map(|(name, value)| (name.clone(), vec![(0.0, *value)])).collect()
}

fn series(result: &CellResult) -> BTreeMap<String, Series> {
    result.measured().map(|measured| measured.series.clone()).unwrap_or_default()
}

fn distributions(result: &CellResult) -> BTreeMap<String, Series> {
    result.measured().map(|measured| measured.distributions.clone()).unwrap_or_default()
}

fn write_file(
    path: &Path,
    format: &str,
    probe_type: &Arc<ProbeType>,
    groups: &Groups,
    of: Of,
) -> Result<(), anyhow::Error> {
    let format = find(format).and_then(|format| format.samples.as_ref()).context("no such format")?;
    let mut file = fs::File::create(path).with_context(|| format!("cannot create {}", path.display()))?;
    let mut writer = (format.open)(&mut file, &oasis_format::WriteOptions::default())?;
    for result in groups.0.iter().flat_map(|group| &group.results) {
        let began: Timestamp =
            result.began.parse().with_context(|| format!("the time of {}", result.cell.id))?;
        for (name, series) in of(result) {
            let source = source(result, &name, probe_type);
            for (number, point) in series.iter().enumerate() {
                writer.sample(&source, 0, &sample(number, began, *point, probe_type.metrics.len()))?;
            }
        }
    }
    writer.finish().map_err(WriteError::into)
}

fn source(result: &CellResult, name: &str, probe_type: &Arc<ProbeType>) -> Arc<Source> {
    Arc::new(Source {
        node: format!("{}.{}", result.cell.id, result.cell.repetition).into(),
        instance: name.into(),
        kind: ProbeKind::Pushed,
        run: Uuid::nil(),
        epoch: Epoch(1),
        probe_type: probe_type.clone(),
    })
}

/// A value at its time, or, with two metrics, a value at its percentage.
fn sample(number: usize, began: Timestamp, (at, value): (f64, f64), metrics: usize) -> Sample {
    let (time, values) = if metrics > 1 { (0.0, vec![at, value]) } else { (at, vec![value]) };
    Sample {
        sequence: number as u64 + 1,
        offset: number as u64,
        time: nanoseconds(began, time),
        values: values.into_iter().map(Value::Real64).collect(),
    }
}

fn nanoseconds(began: Timestamp, seconds: f64) -> u64 {
    u64::try_from(began.as_nanosecond()).unwrap_or_default().saturating_add((seconds * 1e9) as u64)
}
