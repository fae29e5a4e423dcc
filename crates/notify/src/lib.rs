//! Notifies people when an alarm is raised or cleared.
//!
//! The alarms write messages into their outbox, in the transaction that changes them. [`NotifyHandler`] has a courier for each destination of
//! [`NotifyConfig`], which takes its messages from there and sends the most severe first: to [Alertmanager](AlertmanagerConfig), as [webhooks](WebhookConfig), as
//! [mail](MailConfig) or to a [program](ExecConfig). A message is settled after it was sent: it arrives at least once, each time with the same key.
//!
//! ```
//! use oasis_notify::NotifyConfig;
//!
//! let config: NotifyConfig = toml::from_str(r#"
//!     [pager]
//!     kind = "alertmanager"
//!     url = "http://127.0.0.1:9093"
//! "#)?;
//! assert_eq!(config.destinations()?[0].name, "pager");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod alertmanager;
mod backoff;
mod clock;
mod config;
mod courier;
mod destination;
mod exec;
mod handler;
mod mail;
mod notification;
mod otlp;
mod setting;
mod text;
mod url;
mod webhook;

pub use alertmanager::AlertmanagerConfig;
pub use config::{Configured, DestinationConfig, NotifyConfig};
pub use courier::Condition;
pub use destination::{AtOnce, Destination, Scope, SendError};
pub use exec::ExecConfig;
pub use handler::{DestinationState, NotifyHandler, TestError};
pub use mail::{MailConfig, MailTls};
pub use notification::{Event, Notification};
pub use otlp::OtlpConfig;
pub use setting::{ConfigError, Limits, MOST_DESTINATIONS};
pub use webhook::WebhookConfig;
