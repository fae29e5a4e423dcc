//! The section `[offload]` of the configuration file.

use crate::error_text::shortened;
use oasis_http_client::logged_url;
use object_store::path::Path;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The settings of the handler.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OffloadConfig {
    /// Destination, as `file:///FOLDER` or `s3://BUCKET/PREFIX`; empty: nothing is copied.
    pub url: String,
    /// Seconds from the sealing of a segment until it is copied.
    pub after_seconds: u64,
}

impl Default for OffloadConfig {
    fn default() -> Self {
        Self { url: String::new(), after_seconds: 60 }
    }
}

/// A section that cannot work.
#[derive(Debug, thiserror::Error)]
pub enum BadConfig {
    /// The address is none.
    #[error(
        "offload.url: {0:?} is no destination: write file:///FOLDER or s3://BUCKET/PREFIX; credentials belong into variables such as AWS_ACCESS_KEY_ID"
    )]
    Url(String),
}

/// A destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A folder, which is created.
    Folder(PathBuf),
    /// A bucket, and the start of all names in it.
    S3 {
        /// Its name.
        bucket: String,
        /// Empty, or some names.
        prefix: Path,
    },
}

impl Location {
    /// Checks an address. Nothing is contacted.
    ///
    /// # Errors
    /// If it is none of a folder or a bucket.
    pub fn parse(url: &str) -> Result<Self, BadConfig> {
        // A presigned address has its secret in the query.
        let bad = || BadConfig::Url(shortened(logged_url(url)));
        if let Some(path) = url.strip_prefix("file://") {
            let is_path = path.starts_with('/') && path.len() > 1 && !path.contains(['%', '?', '#', '\0']);
            return if is_path { Ok(Self::Folder(path.into())) } else { Err(bad()) };
        }
        let rest = url.strip_prefix("s3://").ok_or_else(bad)?;
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let is_bucket = !bucket.is_empty()
            && bucket.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
        let prefix = prefix.trim_matches('/');
        match Path::parse(prefix) {
            Ok(path) if is_bucket && !prefix.contains(['@', '?', '#', '%']) => {
                Ok(Self::S3 { bucket: bucket.into(), prefix: path })
            }
            _ => Err(bad()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_destination_is_a_folder_or_a_bucket() {
        let parse = |url: &str| Location::parse(url).map_err(|error| error.to_string());
        assert_eq!(parse("file:///var/lib/copy"), Ok(Location::Folder("/var/lib/copy".into())));
        let s3 = |bucket: &str, prefix: &str| {
            Ok(Location::S3 { bucket: bucket.to_owned(), prefix: Path::parse(prefix).unwrap() })
        };
        assert_eq!(parse("s3://plant"), s3("plant", ""));
        assert_eq!(parse("s3://plant/line/3/"), s3("plant", "line/3"));
        for bad in
            ["plant", "file://plant", "file:///", "http://x/", "s3://", "s3:///x", "s3://a b", "s3://a//../b"]
        {
            assert!(parse(bad).unwrap_err().starts_with("offload.url"), "{bad}");
        }
        let secret = parse("s3://key:hush@plant/x").unwrap_err();
        assert!(secret.contains("AWS_ACCESS_KEY_ID") && !secret.contains("hush"), "{secret}");
        let presigned = parse("https://plant.s3.example/x?X-Amz-Signature=hush").unwrap_err();
        assert!(presigned.contains("plant.s3.example/x") && !presigned.contains("hush"), "{presigned}");
        assert!(parse(&"x".repeat(70_000)).unwrap_err().len() < 1_000);
    }
}
