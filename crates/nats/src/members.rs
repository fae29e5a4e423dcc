//! The bucket in which the DACs of a site say twice a second that they live.
//!
//! A value that is there says nothing: only one that comes while it is watched does. So an observer never needs the server's clock, nor an expiry.

use crate::{Connection, NatsError, bucket::open_or_create, copy::schema_key};
use async_nats::jetstream::kv::{self, Operation};
use bytes::Bytes;
use futures_util::StreamExt;

/// The bucket.
const BUCKET: &str = "OASIS_TEM";
/// Longest value that is read, in bytes.
const MAX_VALUE_BYTES: usize = 1024 * 1024;
/// Bytes of the bucket.
const BYTES: i64 = 64 * 1024 * 1024;

/// The bucket of members.
#[derive(Debug, Clone)]
pub struct Members(kv::Store);

/// The values that come while this lives.
pub struct Beats(kv::Watch);

impl Members {
    /// Opens the bucket, and creates it if it does not exist.
    ///
    /// # Errors
    /// If the server refuses.
    pub async fn open(connection: &Connection, replicas: u64) -> Result<Self, NatsError> {
        let room = (BYTES, usize::try_from(replicas).unwrap_or(1).clamp(1, 5));
        Ok(Self(open_or_create(connection, BUCKET, "DACs that live", room).await?))
    }

    /// Puts the value of a member. A name may have letters that a key cannot have, so its hash is the key.
    ///
    /// # Errors
    /// If the server does not acknowledge it.
    pub async fn put(&self, name: &str, value: Vec<u8>) -> Result<(), NatsError> {
        let put = self.0.put(schema_key(name.as_bytes()), value.into()).await;
        put.map(drop).map_err(|error| NatsError::at("cannot report to the TEM", error))
    }

    /// Watches the values that come from now on.
    ///
    /// # Errors
    /// If the server refuses.
    pub async fn watch(&self) -> Result<Beats, NatsError> {
        let watch = self.0.watch_all().await;
        watch.map(Beats).map_err(|error| NatsError::at("cannot watch the TEM", error))
    }
}

impl Beats {
    /// Returns the next value.
    ///
    /// # Errors
    /// If the watch is lost.
    pub async fn next(&mut self) -> Result<Bytes, NatsError> {
        loop {
            let entry =
                self.0.next().await.ok_or_else(|| NatsError("the watch of the TEM has ended".into()))?;
            let entry = entry.map_err(|error| NatsError::at("cannot watch the TEM", error))?;
            if entry.operation == Operation::Put && entry.value.len() <= MAX_VALUE_BYTES {
                return Ok(entry.value);
            }
        }
    }
}
