//! Buckets: streams that keep the last value of a key.

use crate::{Connection, NatsError};
use async_nats::jetstream::{
    kv::Store,
    stream::{Config, DiscardPolicy, StorageType},
};

/// Opens a bucket, and creates it if it does not exist.
///
/// The client's own function asks for the account first, and cannot read what a server before 2.10 answers; a bucket is a stream with these settings (ADR-8
/// of NATS).
///
/// # Errors
/// If the server refuses.
pub async fn open_or_create(
    connection: &Connection,
    bucket: &str,
    description: &str,
    (bytes, replicas): (i64, usize),
) -> Result<Store, NatsError> {
    if let Ok(store) = connection.jetstream.get_key_value(bucket).await {
        return Ok(store);
    }
    let failed =
        |error: &dyn std::fmt::Display| NatsError::at(&format!("cannot create the bucket {bucket}"), error);
    let config = Config {
        name: format!("KV_{bucket}"),
        subjects: vec![format!("$KV.{bucket}.>")],
        description: Some(description.into()),
        max_messages_per_subject: 1,
        max_bytes: bytes,
        storage: StorageType::File,
        discard: DiscardPolicy::New,
        num_replicas: replicas,
        allow_rollup: true,
        deny_delete: true,
        allow_direct: true,
        ..Config::default()
    };
    connection.jetstream.get_or_create_stream(config).await.map_err(|error| failed(&error))?;
    connection.jetstream.get_key_value(bucket).await.map_err(|error| failed(&error))
}
