//! A handler that sends the newest values of probe instances to a collector of OpenTelemetry, at an interval: OTLP 1.x over HTTP, in JSON.
//!
//! The handler keeps no samples: a collector that does not answer misses values, which are counted, and the archive has all of them. Alarms are sent by
//! `oasis-notify`, each at least once. `docs/guides/send-to-opentelemetry.md` is the guide.
//!
//! ```
//! use oasis_handler::ConfiguredHandler;
//! use oasis_otlp_export::{OtlpExport, OtlpExportConfig};
//!
//! let endpoint = "http://127.0.0.1:4318".to_owned();
//! let handler = OtlpExport::configured(OtlpExportConfig { endpoint, ..OtlpExportConfig::default() })?;
//! assert!(handler.is_some());
//! assert!(OtlpExport::configured(OtlpExportConfig::default())?.is_none(), "without an endpoint nothing is sent");
//! # Ok::<(), oasis_otlp_export::BadConfig>(())
//! ```

mod config;
mod export;
pub mod json;
mod newest;
mod request;

pub use config::{BadConfig, OtlpExportConfig};
pub use export::OtlpExport;
