//! The store of objects: each is put only if it is absent, and read back before it counts.

use crate::{config::Location, object_names::hexadecimal, s3_requests::RequestConnector};
use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt};
use object_store::{
    ObjectStore, ObjectStoreExt, PutMode, PutOptions, RetryConfig,
    aws::{AmazonS3Builder, AmazonS3ConfigKey},
    local::LocalFileSystem,
    path::Path,
    prefix::PrefixStore,
};
use sha2::{Digest, Sha256};
use std::{fs, sync::Arc, time::Duration};
use tokio::runtime::Runtime;

/// Most attempts of a request after the first one; the handler tries again later.
const MAX_RETRIES: usize = 2;
/// Time after which a request is not retried.
const RETRY_TIMEOUT: Duration = Duration::from_secs(20);
/// Largest text that is read whole.
pub const MAX_TEXT_BYTES: u64 = 64 << 20;

/// Errors of the store.
#[derive(Debug, thiserror::Error)]
pub enum DestinationError {
    /// The store.
    #[error("{0}")]
    Store(#[from] object_store::Error),
    /// The folder cannot be used.
    #[error("{0}")]
    Folder(#[from] std::io::Error),
    /// Other bytes than those that were put.
    #[error("{0} reads back with other bytes than were written")]
    Mismatch(Path),
    /// A text that is too long.
    #[error("{0} has {1} bytes, more than {MAX_TEXT_BYTES}")]
    TooLong(Path, u64),
}

/// Requests so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RequestCounts {
    /// All of them.
    pub requests: u64,
    /// Requests that the store has refused or not answered.
    pub failed: u64,
}

/// The result of putting an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PutOutcome {
    /// The object was absent.
    Created,
    /// The same bytes were there.
    Found,
    /// Other bytes were there.
    Replaced,
}

/// The store, used by one thread.
#[derive(Debug)]
pub struct Destination {
    store: Arc<dyn ObjectStore>,
    runtime: Runtime,
    /// Counters since the start.
    pub counts: RequestCounts,
}

impl Destination {
    /// Opens a store; creates a folder.
    ///
    /// # Errors
    /// If the folder cannot be created, or the environment has no valid settings for S3.
    pub fn open(location: &Location) -> Result<Self, DestinationError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
        let store: Arc<dyn ObjectStore> = match location {
            Location::Folder(folder) => {
                fs::create_dir_all(folder)?;
                Arc::new(LocalFileSystem::new_with_prefix(folder)?.with_fsync(true))
            }
            Location::S3 { bucket, prefix } => {
                let retry = RetryConfig {
                    max_retries: MAX_RETRIES,
                    retry_timeout: RETRY_TIMEOUT,
                    ..RetryConfig::default()
                };
                let s3 = AmazonS3Builder::from_env().with_bucket_name(bucket).with_retry(retry);
                let endpoint = s3.get_config_value(&AmazonS3ConfigKey::Endpoint).unwrap_or_default();
                let is_encrypted = !endpoint.starts_with("http://");
                let s3 = s3.with_http_connector(RequestConnector { is_encrypted }).build()?;
                Arc::new(PrefixStore::new(s3, prefix.as_str()))
            }
        };
        Ok(Self { store, runtime, counts: RequestCounts::default() })
    }

    /// Puts an object unless it is there, and reads it back. Other bytes at its place are those of an attempt that was interrupted, because no manifest
    /// lists them: they are replaced. Returns its checksum too.
    ///
    /// # Errors
    /// If the store fails, or does not return what was put.
    pub fn put(&mut self, path: &Path, bytes: Vec<u8>) -> Result<(PutOutcome, String), DestinationError> {
        let bytes = Bytes::from(bytes);
        let checksum: [u8; 32] = Sha256::digest(&bytes).into();
        let expected = (bytes.len() as u64, checksum);
        let created = self.put_as(path, bytes.clone(), PutMode::Create);
        let outcome = match created {
            Ok(()) => PutOutcome::Created,
            Err(object_store::Error::AlreadyExists { .. } | object_store::Error::Precondition { .. }) => {
                if self.has(path, expected)? {
                    return Ok((PutOutcome::Found, hexadecimal(&checksum)));
                }
                self.counted(|store, path| async move { store.delete(&path).await }, path)?;
                self.put_as(path, bytes, PutMode::Create)?;
                PutOutcome::Replaced
            }
            Err(error) => return Err(error.into()),
        };
        if self.has(path, expected)? {
            Ok((outcome, hexadecimal(&checksum)))
        } else {
            Err(DestinationError::Mismatch(path.clone()))
        }
    }

    /// Reads a text; `None` if it is absent.
    ///
    /// # Errors
    /// If the store fails, or the text is too long.
    pub fn read(&mut self, path: &Path) -> Result<Option<Bytes>, DestinationError> {
        let read = self.counted(
            |store, path| async move {
                let found = store.get(&path).await?;
                if found.meta.size > MAX_TEXT_BYTES {
                    return Ok(Err(found.meta.size));
                }
                Ok(Ok(found.bytes().await?))
            },
            path,
        );
        match read {
            Ok(Ok(bytes)) => Ok(Some(bytes)),
            Ok(Err(size)) => Err(DestinationError::TooLong(path.clone(), size)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes the objects of a folder whose names begin so, but for some. Returns how many.
    ///
    /// # Errors
    /// If the store fails.
    pub fn remove_others(
        &mut self,
        folder: &Path,
        name_start: &str,
        is_kept: impl Fn(&Path) -> bool,
    ) -> Result<u64, DestinationError> {
        let listed = self.counted(
            |store, folder| async move {
                store.list(Some(&folder)).map_ok(|found| found.location).try_collect().await
            },
            folder,
        );
        let listed: Vec<Path> = listed?;
        let mut removed = 0;
        for path in listed {
            let is_own = path.filename().is_some_and(|name| name.starts_with(name_start));
            if is_own && !is_kept(&path) {
                self.counted(|store, path| async move { store.delete(&path).await }, &path)?;
                removed += 1;
            }
        }
        Ok(removed)
    }

    fn put_as(&mut self, path: &Path, bytes: Bytes, mode: PutMode) -> Result<(), object_store::Error> {
        let options = PutOptions { mode, ..PutOptions::default() };
        let put = |store: Arc<dyn ObjectStore>, path: Path| async move {
            store.put_opts(&path, bytes.into(), options).await.map(drop)
        };
        self.counted(put, path)
    }

    /// Whether an object has this size and checksum.
    fn has(&mut self, path: &Path, expected: (u64, [u8; 32])) -> Result<bool, object_store::Error> {
        let checksum = self.counted(
            |store, path| async move {
                let found = store.get(&path).await?;
                if found.meta.size != expected.0 {
                    return Ok(None);
                }
                let (mut checksum, mut size) = (Sha256::new(), 0);
                let mut chunks = found.into_stream();
                while let Some(chunk) = chunks.next().await.transpose()? {
                    size += chunk.len() as u64;
                    checksum.update(&chunk);
                }
                Ok(Some((size, checksum.finalize().into())))
            },
            path,
        )?;
        Ok(checksum == Some(expected))
    }

    fn counted<T, F: Future<Output = Result<T, object_store::Error>>>(
        &mut self,
        request: impl FnOnce(Arc<dyn ObjectStore>, Path) -> F,
        path: &Path,
    ) -> Result<T, object_store::Error> {
        self.counts.requests += 1;
        let answer = self.runtime.block_on(request(self.store.clone(), path.clone()));
        use object_store::Error::{AlreadyExists, NotFound, Precondition};
        let has_failed = matches!(&answer, Err(error) if !matches!(error, AlreadyExists { .. } | NotFound { .. } | Precondition { .. }));
        self.counts.failed += u64::from(has_failed);
        answer
    }
}
