//! The store of objects: each is put only if it is absent, and read back before it counts.

use crate::{
    config::Location, error_text::store_error, object_names::hexadecimal, s3_requests::RequestConnector,
};
use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt};
use object_store::{
    ClientConfigKey, GetOptions, GetRange, ObjectStore, ObjectStoreExt, PutMode, PutOptions, RetryConfig,
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
    #[error("{}", store_error(&.0.to_string()))]
    Store(#[from] object_store::Error),
    /// The folder cannot be used.
    #[error("{0}")]
    Folder(#[from] std::io::Error),
    /// S3 without encryption, which must be allowed.
    #[error("the address of S3 has http: set AWS_ALLOW_HTTP=true, or write https")]
    Unencrypted,
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

/// Order of the requests that put an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PutOrder {
    /// Sends it at once: nothing is there, as a rule.
    PutFirst,
    /// Sends it only if it is absent: an earlier attempt may have put it.
    LookFirst,
}

/// An object at a place, compared with the one to put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExistingObject {
    Absent,
    Same,
    Other,
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
                let is_encrypted = is_encrypted(|key| s3.get_config_value(key))?;
                let s3 = s3.with_http_connector(RequestConnector { is_encrypted }).build()?;
                Arc::new(PrefixStore::new(s3, prefix.clone()))
            }
        };
        Ok(Self { store, runtime, counts: RequestCounts::default() })
    }

    /// Puts an object unless it is there, and reads it back. Other bytes at its place are those of an attempt that was interrupted, because no manifest
    /// lists them: they are replaced. Returns its checksum too.
    ///
    /// # Errors
    /// If the store fails, or does not return what was put.
    pub fn put(
        &mut self,
        path: &Path,
        bytes: Vec<u8>,
        order: PutOrder,
    ) -> Result<(PutOutcome, String), DestinationError> {
        let bytes = Bytes::from(bytes);
        let checksum: [u8; 32] = Sha256::digest(&bytes).into();
        let expected = (bytes.len() as u64, checksum);
        let mut existing = match order {
            PutOrder::PutFirst => ExistingObject::Absent,
            PutOrder::LookFirst => self.existing(path, expected)?,
        };
        let mut outcome = PutOutcome::Replaced;
        if existing == ExistingObject::Absent {
            match self.create(path, bytes.clone()) {
                Ok(()) => outcome = PutOutcome::Created,
                Err(object_store::Error::AlreadyExists { .. } | object_store::Error::Precondition { .. }) => {
                    existing = self.existing(path, expected)?
                }
                Err(error) => return Err(error.into()),
            }
        }
        if existing == ExistingObject::Same {
            return Ok((PutOutcome::Found, hexadecimal(&checksum)));
        }
        if outcome == PutOutcome::Replaced {
            self.counted(|store, path| async move { store.delete(&path).await }, path)?;
            self.create(path, bytes)?;
        }
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

    fn create(&mut self, path: &Path, bytes: Bytes) -> Result<(), object_store::Error> {
        let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
        let put = |store: Arc<dyn ObjectStore>, path: Path| async move {
            store.put_opts(&path, bytes.into(), options).await.map(drop)
        };
        self.counted(put, path)
    }

    fn existing(
        &mut self,
        path: &Path,
        expected: (u64, [u8; 32]),
    ) -> Result<ExistingObject, object_store::Error> {
        match self.counted(|store, path| async move { store.head(&path).await }, path) {
            Ok(found) if found.size == expected.0 && self.has(path, expected)? => Ok(ExistingObject::Same),
            Ok(_) => Ok(ExistingObject::Other),
            Err(object_store::Error::NotFound { .. }) => Ok(ExistingObject::Absent),
            Err(error) => Err(error),
        }
    }

    /// Whether an object has this size and checksum.
    fn has(&mut self, path: &Path, expected: (u64, [u8; 32])) -> Result<bool, object_store::Error> {
        let checksum = self.counted(
            |store, path| async move {
                // The timeout of a request is one for its range.
                let range = Some(GetRange::Bounded(0..expected.0));
                let found = store.get_opts(&path, GetOptions { range, ..GetOptions::default() }).await?;
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

/// Whether requests to S3 are encrypted.
///
/// # Errors
/// If they are not, and the environment does not allow it.
fn is_encrypted(setting: impl Fn(&AmazonS3ConfigKey) -> Option<String>) -> Result<bool, DestinationError> {
    let endpoint = setting(&AmazonS3ConfigKey::S3Endpoint).or(setting(&AmazonS3ConfigKey::Endpoint));
    let is_encrypted = !endpoint.is_some_and(|endpoint| endpoint.to_ascii_lowercase().starts_with("http://"));
    let allows_http = setting(&AmazonS3ConfigKey::Client(ClientConfigKey::AllowHttp)).unwrap_or_default();
    let allows_http = matches!(&*allows_http.to_ascii_lowercase(), "1" | "true" | "on" | "yes" | "y");
    if is_encrypted || allows_http { Ok(is_encrypted) } else { Err(DestinationError::Unencrypted) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(folder: &std::path::Path) -> Destination {
        Destination::open(&Location::Folder(folder.into())).unwrap()
    }

    #[test]
    fn plain_http_must_be_allowed() {
        let setting = |endpoint: &'static str, allows: &'static str| {
            move |key: &AmazonS3ConfigKey| match key {
                AmazonS3ConfigKey::Endpoint => Some(endpoint.to_owned()),
                AmazonS3ConfigKey::Client(ClientConfigKey::AllowHttp) => Some(allows.to_owned()),
                _ => None,
            }
        };
        assert!(is_encrypted(|_| None).unwrap());
        assert!(is_encrypted(setting("https://minio:9000", "false")).unwrap());
        assert!(!is_encrypted(setting("http://minio:9000", "true")).unwrap());
        let error = is_encrypted(setting("HTTP://minio:9000", "false")).unwrap_err();
        assert!(error.to_string().contains("AWS_ALLOW_HTTP=true"), "{error}");
    }

    #[test]
    fn an_object_that_is_there_is_not_sent_again() {
        let folder = tempfile::tempdir().unwrap();
        let mut destination = opened(folder.path());
        let path = Path::parse("type=A/1.parquet").unwrap();
        let mut put = |bytes: &[u8], order| {
            destination.counts = RequestCounts::default();
            let (outcome, _) = destination.put(&path, bytes.into(), order).unwrap();
            (outcome, destination.counts.requests)
        };
        use PutOrder::{LookFirst, PutFirst};
        // Head, put, read back.
        assert_eq!(put(b"one", LookFirst), (PutOutcome::Created, 3));
        assert_eq!(put(b"one", LookFirst), (PutOutcome::Found, 2));
        assert_eq!(put(b"one", PutFirst), (PutOutcome::Found, 3));
        // Head, read back if the sizes are equal, delete, put, read back.
        assert_eq!(put(b"two", LookFirst), (PutOutcome::Replaced, 5));
        assert_eq!(put(b"three", PutFirst), (PutOutcome::Replaced, 5));
        assert_eq!(fs::read(folder.path().join(path.as_ref())).unwrap(), b"three");
    }
}
