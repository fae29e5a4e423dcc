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
    let Metadata { files, compression, .. } = Metadata::of(&metadata)?;
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

/// Returns the number of messages of each topic by `metadata.yaml`; none without that file.
///
/// # Errors
/// If it cannot be read.
pub fn message_counts(folder: &Path) -> Result<Vec<MessageCount>, InputError> {
    let metadata = folder.join("metadata.yaml");
    if metadata.is_file() { Ok(Metadata::of(&metadata)?.counts) } else { Ok(Vec::new()) }
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

/// The messages of a topic, by `metadata.yaml`.
#[derive(Debug, PartialEq, Eq)]
pub struct MessageCount {
    pub topic: String,
    pub messages: u64,
}

/// The properties of `metadata.yaml` that a reader needs.
#[derive(Debug, Default, PartialEq, Eq)]
struct Metadata {
    files: Vec<String>,
    counts: Vec<MessageCount>,
    /// The format of its compression; empty for none.
    compression: String,
}

impl Metadata {
    fn of(path: &Path) -> Result<Self, InputError> {
        let mut text = String::new();
        File::open(path)?.take(MAX_METADATA_BYTES).read_to_string(&mut text)?;
        Ok(Self::read(&text))
    }

    /// Reads the lines of `relative_file_paths`, of `topics_with_message_count` and the compression.
    fn read(text: &str) -> Self {
        let mut metadata = Self::default();
        let (mut is_list, mut topic) = (false, None);
        for line in text.lines() {
            let line = line.trim();
            if let Some(item) = line.strip_prefix("- ").filter(|_| is_list) {
                metadata.files.push(unquoted(item).to_owned());
                continue;
            }
            is_list = line == "relative_file_paths:";
            match line.split_once(':') {
                Some(("compression_format", format)) => {
                    unquoted(format).clone_into(&mut metadata.compression)
                }
                Some(("- topic_metadata", _)) => topic = Some(None),
                Some(("name", name)) if topic == Some(None) => topic = Some(Some(unquoted(name).to_owned())),
                Some(("message_count", count)) => {
                    if let (Some(Some(topic)), Ok(messages)) = (topic.take(), count.trim().parse()) {
                        metadata.counts.push(MessageCount { topic, messages });
                    }
                }
                _ => {}
            }
        }
        metadata
    }
}

fn unquoted(text: &str) -> &str {
    text.trim().trim_matches(['"', '\''])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_names_files_and_compression() {
        let text = "rosbag2_bagfile_information:\n  version: 5\n  relative_file_paths:\n    - a_0.db3\n    - \"b 1.db3\"\n  duration:\n    nanoseconds: 1\n  message_count: 9\n  topics_with_message_count:\n    - topic_metadata:\n        name: /imu\n        type: sensor_msgs/msg/Imu\n      message_count: 7\n  compression_format: \"\"\n  files:\n    - path: a_0.db3\n      message_count: 9\n";
        let files = vec!["a_0.db3".to_owned(), "b 1.db3".to_owned()];
        let counts = vec![MessageCount { topic: "/imu".into(), messages: 7 }];
        assert_eq!(Metadata::read(text), Metadata { files, counts, compression: String::new() });
        assert_eq!(Metadata::read("  compression_format: zstd").compression, "zstd");
    }
}
