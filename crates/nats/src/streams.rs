//! The streams of copies, and the bucket of schemas.

use crate::{
    Connection, NatsConfig, NatsError, PARTITIONS, bucket::open_or_create, copy::parse_schema, stream_name,
};
use async_nats::jetstream::{
    kv,
    stream::{Config, DiscardPolicy, RetentionPolicy, StorageType},
};
use oasis_wire::schema::ProbeType;
use std::{collections::HashMap, sync::Arc, time::Duration};

/// The bucket of schemas.
const SCHEMAS: &str = "OASIS_SCHEMA";
/// Bytes of all schemas.
const SCHEMA_BYTES: i64 = 64 * 1024 * 1024;
/// Schemas that a process remembers.
const REMEMBERED: usize = 1_000;
/// Window in which the server recognizes a message that is sent again. No component relies on it.
const DUPLICATES: Duration = Duration::from_secs(120);

/// Limits of streams that do not exist yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Servers that have each copy.
    pub replicas: u64,
    /// Retention of copies.
    pub age: Duration,
    /// Bytes of all copies.
    pub bytes: u64,
}

impl Limits {
    /// Returns the limits of the settings.
    pub fn of(config: &NatsConfig) -> Self {
        let NatsConfig { replicas, retention_seconds, retention_bytes, .. } = *config;
        Self { replicas, age: Duration::from_secs(retention_seconds), bytes: retention_bytes }
    }

    fn replicas(&self) -> usize {
        usize::try_from(self.replicas).unwrap_or(1).clamp(1, 5)
    }
}

/// Creates the streams that do not exist yet. Those that exist keep their limits.
///
/// # Errors
/// If the server refuses, for example because its storage is too small.
pub async fn create_streams(connection: &Connection, limits: Limits) -> Result<(), NatsError> {
    for partition in 0..PARTITIONS {
        let name = stream_name(partition);
        let config = Config {
            name: name.clone(),
            subjects: vec![format!("oasis.v1.batch.{partition}.*")],
            retention: RetentionPolicy::Limits,
            discard: DiscardPolicy::Old,
            storage: StorageType::File,
            max_age: limits.age,
            max_bytes: i64::try_from(limits.bytes / u64::from(PARTITIONS)).unwrap_or(i64::MAX),
            num_replicas: limits.replicas(),
            duplicate_window: DUPLICATES.min(limits.age),
            description: Some("copies of samples that DACs of OASIS received".into()),
            ..Config::default()
        };
        let created = connection.jetstream.get_or_create_stream(config).await;
        created.map_err(|error| NatsError::at(&format!("cannot create the stream {name}"), error))?;
    }
    Ok(())
}

/// The bucket of schemas, with a memory of known ones.
#[derive(Debug, Clone)]
pub struct Schemas {
    store: kv::Store,
    known: HashMap<Arc<str>, Option<Arc<ProbeType>>>,
}

/// Opens the bucket of schemas, and creates it if it does not exist.
///
/// # Errors
/// If the server refuses.
pub async fn create_schemas(connection: &Connection, limits: Limits) -> Result<Schemas, NatsError> {
    let room = (SCHEMA_BYTES, limits.replicas());
    let store = open_or_create(connection, SCHEMAS, "schemas of copied samples", room).await?;
    Ok(Schemas { store, known: HashMap::new() })
}

impl Schemas {
    /// Opens the bucket.
    ///
    /// # Errors
    /// If it does not exist.
    pub async fn open(connection: &Connection) -> Result<Self, NatsError> {
        let opened = connection.jetstream.get_key_value(SCHEMAS).await;
        let store = opened.map_err(|error| NatsError::at(&format!("no bucket {SCHEMAS}"), error))?;
        Ok(Self { store, known: HashMap::new() })
    }

    /// Stores a schema. One that this process has stored before costs nothing.
    ///
    /// # Errors
    /// If the server does not acknowledge it.
    pub async fn put(&mut self, key: &Arc<str>, json: Vec<u8>) -> Result<(), NatsError> {
        if self.known.contains_key(key) {
            return Ok(());
        }
        let stored = self.store.put(&**key, json.into()).await;
        stored.map_err(|error| NatsError::at("cannot store a schema", error))?;
        self.remember(key.clone(), None);
        Ok(())
    }

    /// Fetches a schema. `None` if there is none of this key, or it is not what its key says.
    ///
    /// # Errors
    /// If the server does not answer.
    pub async fn get(&mut self, key: &Arc<str>) -> Result<Option<Arc<ProbeType>>, NatsError> {
        if let Some(known) = self.known.get(key) {
            return Ok(known.clone());
        }
        let fetched = self.store.get(&**key).await;
        let json = fetched.map_err(|error| NatsError::at("cannot fetch a schema", error))?;
        let probe_type = json.and_then(|json| parse_schema(key, &json)).map(Arc::new);
        self.remember(key.clone(), probe_type.clone());
        Ok(probe_type)
    }

    fn remember(&mut self, key: Arc<str>, probe_type: Option<Arc<ProbeType>>) {
        if self.known.len() >= REMEMBERED {
            self.known.clear();
        }
        self.known.insert(key, probe_type);
    }
}
