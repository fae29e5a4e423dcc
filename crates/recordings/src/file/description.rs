//! The description of a recording: the JSON of `oasis import --describe --json`.

use super::{
    opened::{OpenedRecording, Source},
    reading::read,
    watch::Watch,
};
use anyhow::{Context, bail};
use oasis_format::{
    input::{Description, Report},
    inputs,
};
use oasis_wire::schema::ProbeType;
use serde::{Deserialize, Serialize};
use std::{fs::File, sync::Arc};

/// The content of a recording.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FileDescription {
    /// Its file.
    pub file: String,
    /// Its format.
    pub format: String,
    /// Its series, in the order of their first batch.
    pub series: Vec<SeriesDescription>,
    /// Content that would be left out or changed.
    pub findings: Vec<FindingDescription>,
    /// Missing samples.
    pub missing: Vec<MissingSamples>,
}

/// The samples of an instance in a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SeriesDescription {
    /// Node name, if OASIS recorded it.
    pub node: Option<String>,
    /// Instance name.
    pub instance: String,
    /// Number of samples.
    pub samples: u64,
    /// Earliest time, nanoseconds since 1970.
    pub from_ns: u64,
    /// Latest time, nanoseconds since 1970.
    pub to_ns: u64,
    /// Its type.
    pub schema: Arc<ProbeType>,
}

/// Content that is left out, changed or renamed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FindingDescription {
    /// The channel, field or column; none for the file.
    pub subject: Option<String>,
    /// The number of messages, lines or values.
    pub count: u64,
    /// The number, the unit and the reason.
    pub text: String,
    /// Whether the samples lack something that the file has.
    pub is_loss: bool,
}

/// Samples of an instance that are missing.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct MissingSamples {
    /// Instance name.
    pub instance: String,
    /// The first sequence number.
    pub from_sequence: u64,
    /// The last sequence number.
    pub to_sequence: u64,
    /// The word of the cause.
    pub cause: String,
}

impl FileDescription {
    /// Whether the samples have all that the file has.
    pub fn is_complete(&self) -> bool {
        self.findings.iter().all(|finding| !finding.is_loss)
    }
}

impl OpenedRecording<'_> {
    /// Describes the recording.
    ///
    /// # Errors
    /// If it is defective, has segment files, or the watch cancels.
    pub fn describe(&self, watch: &dyn Watch) -> anyhow::Result<FileDescription> {
        let mut found = Description::default();
        let mut reports = Vec::new();
        let options = self.options.input;
        let title = match &self.source {
            Source::Recording(format) => {
                let mut take = |recorded: &_, batch: &[u8]| found.add(recorded, batch);
                reports.push(read(self.unpacked.path(), format, options, watch, &mut take)?);
                format.title
            }
            Source::McapBag(files) => {
                for file in files {
                    let format = inputs::find(file, &mut File::open(file)?)?;
                    let format = format.with_context(|| format!("{}: not an MCAP file", file.display()))?;
                    let mut take = |recorded: &_, batch: &[u8]| found.add(recorded, batch);
                    let report = read(file, format, options, watch, &mut take);
                    reports.push(report.with_context(|| file.display().to_string())?);
                }
                "MCAP"
            }
            Source::Segments(_) => bail!("segment files are described by `oasis archive check`"),
        };
        Ok(description(self.path.display().to_string(), title, &found, reports))
    }
}

fn description(file: String, format: &str, found: &Description, reports: Vec<Report>) -> FileDescription {
    let series = found.series().iter().map(|series| SeriesDescription {
        node: series.node.as_deref().map(str::to_owned),
        instance: series.instance.to_string(),
        samples: series.samples,
        from_ns: series.first,
        to_ns: series.last,
        schema: series.probe_type.clone(),
    });
    let (mut findings, mut missing) = (Vec::new(), Vec::new());
    for Report { findings: of_file, lost, .. } in reports {
        findings.extend(of_file.into_iter().map(|finding| FindingDescription {
            subject: finding.subject,
            count: finding.count,
            text: finding.text,
            is_loss: finding.is_loss,
        }));
        missing.extend(lost.into_iter().map(|lost| MissingSamples {
            instance: lost.instance,
            from_sequence: *lost.numbers.start(),
            to_sequence: *lost.numbers.end(),
            cause: lost.cause.word().to_owned(),
        }));
    }
    FileDescription { file, format: format.to_owned(), series: series.collect(), findings, missing }
}
