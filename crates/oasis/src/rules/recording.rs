//! MCAP files as an archive that lives as long as the command.

use crate::import::{self, check_distinct, default_name};
use anyhow::{Context, bail};
use oasis_format::input::{InputOptions, RecordedSeries};
use oasis_recordings::import::Import;
use oasis_store::{ArchiveConfig, History, Series};
use oasis_wire::{
    batch::{self, Batch, Encoder, Fields},
    quantity::Epoch,
    schema::ProbeType,
    value,
};
use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    sync::Arc,
};
use tempfile::TempDir;

/// Samples of one batch are not farther apart than silence is noticed, in nanoseconds.
const TICK_NANOS: u64 = 100_000_000;

/// The samples of MCAP files.
pub struct Recording {
    pub history: History,
    /// Removed with it.
    _folder: TempDir,
}

impl Recording {
    /// Reads the files. Nodes of `oasis export` keep their names; what another program has recorded is of a node with the name of the file.
    ///
    /// # Errors
    /// If a file is not an MCAP file, is damaged, or has no message that can be read.
    pub fn read(files: &[PathBuf]) -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new().prefix("oasis-rules-").tempdir()?;
        let directory = folder.path().join("archive");
        let config = ArchiveConfig {
            directory: directory.display().to_string(),
            // A recording can be of any time.
            plausible_past_days: 0,
            ..ArchiveConfig::default()
        };
        check_distinct(files)?;
        let mut import = Import::begin(oasis_store::open(config)?)?;
        for file in files {
            add(file, &mut import).with_context(|| file.display().to_string())?;
        }
        import.finish()?;
        Ok(Self { history: History::open(&directory)?, _folder: folder })
    }
}

/// The types of MCAP files, each once: channels without a schema have the type of their first message.
///
/// # Errors
/// As [`Recording::read`].
pub fn types(files: &[PathBuf]) -> anyhow::Result<Vec<Arc<ProbeType>>> {
    let (mut types, mut known) = (Vec::new(), HashSet::new());
    for file in files {
        let mut take = |recorded: &RecordedSeries, _: &[u8]| {
            let of = &recorded.probe_type;
            if known.insert((of.uuid, of.version.clone())) {
                types.push(of.clone());
            }
            Ok(())
        };
        read(file, &mut take).with_context(|| file.display().to_string())?;
    }
    Ok(types)
}

fn add(path: &Path, import: &mut Import) -> anyhow::Result<()> {
    let name = default_name(path)?;
    read(path, &mut |recorded, batch| {
        let series = series_of(recorded, &name);
        for piece in pieces(batch, &series.probe_type)? {
            import.add(&series, &piece)?;
        }
        Ok(())
    })
}

/// Reads a file: its batches, with the instance of each.
fn read(
    path: &Path,
    take: &mut dyn FnMut(&RecordedSeries, &[u8]) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let Some(format) = import::find(path)?.filter(|format| format.name == "mcap") else {
        bail!("not an MCAP file: import other recordings with `oasis import`");
    };
    let mut is_empty = true;
    let report = import::read(path, format, &InputOptions::default(), &mut |recorded, batch| {
        is_empty = false;
        take(recorded, batch).map_err(Into::into)
    })?;
    import::print(path, &report);
    if is_empty {
        bail!(import::no_samples(format, &report));
    }
    // Rules would not see the lost messages.
    if report.is_damaged {
        bail!("messages of the file are lost: import it, and run the rules over the archive");
    }
    Ok(())
}

fn series_of(recorded: &RecordedSeries, name: &str) -> Series {
    let RecordedSeries { node, instance, kind, run, probe_type } = recorded.clone();
    let node = node.unwrap_or_else(|| name.into());
    Series { node, instance, kind, run, epoch: Epoch(0), probe_type }
}

/// Cuts a batch at ticks of the samples' time. A recording has no times of reception: the time of a piece is that of
/// its last sample.
fn pieces(batch: &[u8], probe_type: &ProbeType) -> anyhow::Result<Vec<Vec<u8>>> {
    let decoded = Batch::parse(batch, probe_type)?;
    let (state, mut encoder) = (decoded.header().state, Encoder::new(probe_type)?);
    let (mut pieces, mut row) = (Vec::new(), Vec::new());
    // Sequence number and time of the first sample of a piece, and time of the last one.
    let mut open: Option<(u64, u64, u64)> = None;
    for sample in decoded.samples() {
        if let Some(ended) =
            open.take_if(|(.., last)| sample.time / TICK_NANOS != *last / TICK_NANOS || sample.time < *last)
        {
            pieces.push(piece(&mut encoder, state, ended));
        }
        let (sequence, first, _) = open.unwrap_or((sample.sequence, sample.time, 0));
        open = Some((sequence, first, sample.time));
        row.clear();
        value::write_row(probe_type, &sample.values, &mut row);
        encoder.push(sample.time, &row)?;
    }
    pieces.extend(open.map(|ended| piece(&mut encoder, state, ended)));
    Ok(pieces)
}

fn piece(encoder: &mut Encoder, state: u16, (first_sequence, node_time, last): (u64, u64, u64)) -> Vec<u8> {
    let mut piece = Vec::new();
    encoder.finish(Fields { state, first_sequence, node_time, ..Fields::default() }, &mut piece);
    batch::stamp(&mut piece, 0, last);
    piece
}
