//! Adds a recording to an import.

use super::{
    names::of_recording,
    opened::{OpenedRecording, Source},
    reading::read,
    watch::{Cancelled, Note, Step, Watch, note_report},
};
use crate::import::Import;
use anyhow::{Context, bail};
use oasis_format::{
    input::{InputFormat, RecordedSeries, Report},
    inputs,
    visible::Visible,
};
use oasis_store::Series;
use oasis_wire::quantity::Epoch;
use std::{
    fs::File,
    path::{Path, PathBuf},
};

/// The kind of a finding in a segment file whose last record was not written completely.
const TORN_TAIL: &str = "torn_tail";

impl OpenedRecording<'_> {
    /// Adds all of it to an import. Returns whether the file has nothing else.
    ///
    /// # Errors
    /// If it is defective or empty, the archive has another recording of that name, or the watch cancels.
    pub fn add(&self, import: &mut Import, watch: &dyn Watch) -> anyhow::Result<bool> {
        let is_complete = match &self.source {
            Source::Recording(format) => {
                self.add_file(self.unpacked.path(), self.path, format, import, watch)?
            }
            Source::Segments(files) => self.add_segments(files, import, watch)?,
            Source::McapBag(files) => {
                let mut is_complete = true;
                for file in files {
                    let format = inputs::find(file, &mut File::open(file)?)?;
                    let Some(format) = format else { bail!("{}: not an MCAP file", file.display()) };
                    is_complete &= self
                        .add_file(file, file, format, import, watch)
                        .with_context(|| file.display().to_string())?;
                }
                is_complete
            }
        };
        if self.options.name.is_none()
            && let Some((node, instance)) = import.unrelated_history()
        {
            bail!(
                "the archive has another recording of {}/{}: keep this one apart with --name NAME, or add it to the other with --name {}",
                Visible(node),
                Visible(instance),
                Visible(&self.prefix)
            );
        }
        Ok(is_complete)
    }

    /// Adds the samples of a file, and the causes of losses that it names. Notes name `source`.
    fn add_file(
        &self,
        path: &Path,
        source: &Path,
        format: &InputFormat,
        import: &mut Import,
        watch: &dyn Watch,
    ) -> anyhow::Result<bool> {
        let mut is_empty = true;
        let report = read(path, format, self.options.input, watch, &mut |recorded, batch| {
            is_empty = false;
            Ok(import.add(&self.series_of(recorded), batch)?)
        })?;
        note_report(watch, source, &report);
        if is_empty {
            bail!(no_samples(format, &report));
        }
        let is_complete = report.is_complete();
        for lost in report.lost {
            let node = self.node_of(lost.node.as_deref()).into();
            import.lose((node, lost.instance.into()), lost.run, lost.numbers, lost.cause);
        }
        Ok(is_complete)
    }

    /// Adds segment files. Returns whether none is damaged.
    fn add_segments(
        &self,
        files: &[PathBuf],
        import: &mut Import,
        watch: &dyn Watch,
    ) -> anyhow::Result<bool> {
        let mut is_complete = true;
        for (done, file) in files.iter().enumerate() {
            watch.on_step(Step::Segments { done, total: files.len() });
            if watch.is_cancelled() {
                bail!(Cancelled);
            }
            let findings = import
                .add_segment_file(file, |node| of_recording(&self.prefix, node))
                .with_context(|| format!("segment file {}", file.display()))?;
            for finding in findings {
                let bytes = format!("bytes {} to {}", finding.from, finding.to);
                let text = format!("{bytes} skipped ({}): {}", finding.kind, finding.detail);
                watch.on_note(Note { file, subject: None, text: &text });
                // A torn tail was never stored.
                is_complete &= finding.kind == TORN_TAIL;
            }
        }
        if self.path.is_dir() {
            self.add_what_else(import, watch);
        }
        Ok(is_complete)
    }

    /// Adds data of another catalogue besides samples.
    fn add_what_else(&self, import: &mut Import, watch: &dyn Watch) {
        let prefix = self.prefix.clone();
        let name = move |node: &str| of_recording(&prefix, node);
        match import.add_causes(self.path, &name) {
            Ok(()) => import.add_notes(self.path, &self.prefix, name),
            Err(error) => {
                let text = format!("causes of losses, test runs, annotations and hosts skipped: {error}");
                watch.on_note(Note { file: self.path, subject: None, text: &text });
            }
        }
    }

    fn node_of(&self, node: Option<&str>) -> String {
        node.map_or_else(|| self.prefix.clone(), |node| of_recording(&self.prefix, node))
    }

    /// The import assigns an epoch.
    fn series_of(&self, recorded: &RecordedSeries) -> Series {
        let RecordedSeries { node, instance, kind, run, probe_type } = recorded.clone();
        let node = self.node_of(node.as_deref()).into();
        Series { node, instance, kind, run, epoch: Epoch(0), probe_type }
    }
}

/// Returns why a file without samples is refused.
pub fn no_samples(format: &InputFormat, report: &Report) -> &'static str {
    match (format.name, report.is_complete()) {
        ("mcap", false) if report.is_damaged => "the file is damaged, and has no other messages",
        ("mcap", false) => {
            "no readable messages: only JSON, Protocol Buffers and messages of ROS 2 are supported"
        }
        ("mcap", true) => "the file has no messages",
        (_, false) => "nothing can be read, as reported above",
        (_, true) => "the file has no samples",
    }
}
