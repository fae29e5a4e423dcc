//! The files of a recording: those that `metadata.yaml` names, in its order.

use crate::{input::InputError, visible::shortened};
use std::{
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
};

/// Longest `metadata.yaml`.
const MAX_METADATA_BYTES: u64 = 16 * 1024 * 1024;
/// Endings of files of a recording.
const EXTENSIONS: [&str; 2] = [".db3", ".mcap"];

/// Returns the files of a folder of rosbag2; none if it is no such folder.
///
/// # Errors
/// If `metadata.yaml` names files that are not there, or a compression other than zstd.
pub fn bag_files(folder: &Path) -> Result<Vec<PathBuf>, InputError> {
    let metadata = folder.join("metadata.yaml");
    if !metadata.is_file() {
        return unlisted(folder);
    }
    let mut text = String::new();
    File::open(&metadata)?.take(MAX_METADATA_BYTES).read_to_string(&mut text)?;
    let Metadata { files, compression } = Metadata::read(&text);
    if !matches!(&*compression, "" | "zstd") {
        let why = format!("the recording is compressed with {:?}", shortened(&compression));
        return Err(InputError::file(why, "unpack it with `ros2 bag convert`"));
    }
    let mut paths = Vec::new();
    for name in files {
        // A recording that was moved keeps the folders of earlier: only the name counts.
        let file = Path::new(&name).file_name().map(|file| folder.join(file));
        // Its file may be unpacked already.
        let unpacked = file.as_ref().map(|path| path.with_extension(""));
        let Some(path) = [file, unpacked].into_iter().flatten().find(|path| path.is_file()) else {
            let why = format!("metadata.yaml names {:?}, which the folder lacks", shortened(&name));
            return Err(InputError::file(
                why,
                "copy all files of the recording, or import its files one by one",
            ));
        };
        paths.push(path);
    }
    if paths.is_empty() { unlisted(folder) } else { Ok(paths) }
}

/// The files of a folder without a list: `name_2` is before `name_10`.
fn unlisted(folder: &Path) -> Result<Vec<PathBuf>, InputError> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.strip_suffix(".zstd").unwrap_or(&name);
        if EXTENSIONS.iter().any(|extension| name.ends_with(extension)) {
            paths.push(path);
        }
    }
    paths.sort_by_key(|path| {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
        let number = stem.rsplit('_').next().and_then(|number| number.parse::<u64>().ok());
        (number, stem)
    });
    Ok(paths)
}

/// The properties of `metadata.yaml` that a reader needs.
#[derive(Debug, Default, PartialEq, Eq)]
struct Metadata {
    files: Vec<String>,
    /// The format of its compression; empty for none.
    compression: String,
}

impl Metadata {
    /// Reads the lines of `relative_file_paths` and the compression.
    fn read(text: &str) -> Self {
        let mut metadata = Self::default();
        let mut is_list = false;
        for line in text.lines() {
            let line = line.trim();
            if let Some(item) = line.strip_prefix("- ").filter(|_| is_list) {
                metadata.files.push(item.trim().trim_matches(['"', '\'']).to_owned());
                continue;
            }
            is_list = line == "relative_file_paths:";
            if let Some(format) = line.strip_prefix("compression_format:") {
                format.trim().trim_matches(['"', '\'']).clone_into(&mut metadata.compression);
            }
        }
        metadata
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_names_files_and_compression() {
        let text = "rosbag2_bagfile_information:\n  version: 5\n  relative_file_paths:\n    - a_0.db3\n    - \"b 1.db3\"\n  duration:\n    nanoseconds: 1\n  compression_format: \"\"\n  files:\n    - path: a_0.db3\n";
        let files = vec!["a_0.db3".to_owned(), "b 1.db3".to_owned()];
        assert_eq!(Metadata::read(text), Metadata { files, compression: String::new() });
        assert_eq!(Metadata::read("  compression_format: zstd").compression, "zstd");
    }
}
