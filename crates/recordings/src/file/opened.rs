//! A recording whose format is known.

use super::{names::default_name, unpacked::Unpacked, watch::Watch};
use anyhow::{Context, bail};
use oasis_format::{
    input::{InputFormat, InputOptions},
    inputs,
    rosbag2::bag_files,
};
use std::{
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
};

/// Bytes at the start of a segment file.
const SEGMENT_MAGIC: &[u8] = b"OASISSEG";

/// The choices of a person about a recording.
#[derive(Debug, Clone, Copy)]
pub struct RecordingOptions<'a> {
    /// The format [default: found in the file].
    pub format: Option<&'static InputFormat>,
    /// Facts that the content lacks.
    pub input: &'a InputOptions,
    /// Prefix for the names of nodes [default: the name of the file].
    pub name: Option<&'a str>,
}

/// Bounds of unpacking.
#[derive(Debug, Clone, Copy)]
pub struct UnpackBounds<'a> {
    /// The folder for unpacked files.
    pub folder: &'a Path,
    /// Most bytes of all unpacked files; none for a multiple of the packed size.
    pub max_bytes: Option<u64>,
}

/// The kind of a file or folder.
#[derive(Debug)]
pub(super) enum Source {
    Recording(&'static InputFormat),
    Segments(Vec<PathBuf>),
    /// The files of a folder of rosbag2 in MCAP.
    McapBag(Vec<PathBuf>),
}

/// A recording, unpacked, with its format.
#[derive(Debug)]
pub struct OpenedRecording<'a> {
    /// The file or folder, as it was named.
    pub(super) path: &'a Path,
    pub(super) options: RecordingOptions<'a>,
    pub(super) unpacked: Unpacked,
    pub(super) source: Source,
    pub(super) prefix: String,
}

impl<'a> OpenedRecording<'a> {
    /// Opens a file or folder.
    ///
    /// # Errors
    /// If it cannot be read or unpacked, or its format is unknown.
    pub fn open(
        path: &'a Path,
        options: RecordingOptions<'a>,
        bounds: UnpackBounds<'_>,
        watch: &dyn Watch,
    ) -> anyhow::Result<Self> {
        let unpacked = Unpacked::of(path, bounds, watch)?;
        let source = find_source(unpacked.path(), options.format)?;
        let prefix = match options.name {
            Some(name) if name.is_empty() || name.contains('/') => {
                bail!("the name is {name:?}: a node name must not be empty or contain /")
            }
            Some(name) => name.to_owned(),
            None => default_name(path)?,
        };
        Ok(Self { path, options, unpacked, source, prefix })
    }

    /// Returns the format; none for segment files.
    pub fn format(&self) -> Option<&'static InputFormat> {
        match &self.source {
            Source::Recording(format) => Some(format),
            Source::McapBag(_) => inputs::by_name("mcap"),
            Source::Segments(_) => None,
        }
    }
}

/// Finds the kind of a file or folder. `format` is that of a choice.
fn find_source(path: &Path, format: Option<&'static InputFormat>) -> anyhow::Result<Source> {
    if let Some(format) = format {
        return Ok(Source::Recording(format));
    }
    if path.is_dir() {
        let mut files: Vec<_> =
            fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<anyhow::Result<_>>()?;
        files.retain(|file| file.extension().is_some_and(|extension| extension == "oseg"));
        files.sort();
        return if files.is_empty() { find_bag(path) } else { Ok(Source::Segments(files)) };
    }
    let mut magic = [0; SEGMENT_MAGIC.len()];
    let read = File::open(path)?.read(&mut magic)?;
    if &magic[..read] == SEGMENT_MAGIC {
        return Ok(Source::Segments(vec![path.to_owned()]));
    }
    match inputs::find(path, &mut File::open(path)?)? {
        Some(format) => Ok(Source::Recording(format)),
        None => {
            let titles: Vec<_> = inputs::INPUTS.iter().map(|format| format.title).collect();
            bail!(
                "the format of the file is unknown: a segment file (.oseg), or {}; --format names it",
                titles.join(", ")
            )
        }
    }
}

/// Finds the files of a folder of rosbag2.
fn find_bag(path: &Path) -> anyhow::Result<Source> {
    let files = bag_files(path)?;
    let is_mcap = |file: &PathBuf| file.extension().is_some_and(|extension| extension == "mcap");
    if files.is_empty() {
        bail!(
            "neither segment files (*.oseg) nor a recording of rosbag2 (metadata.yaml) in the folder: pass recordings one by one"
        );
    }
    if files.iter().any(is_mcap) {
        return Ok(Source::McapBag(files));
    }
    let format = inputs::by_name("rosbag2").context("built without rosbag2")?;
    Ok(Source::Recording(format))
}
