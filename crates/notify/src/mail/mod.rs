//! Mail by SMTP. Without the feature `mail` there is only its table, which is refused.

mod config;
#[cfg(feature = "mail")]
mod letter;
#[cfg_attr(not(feature = "mail"), path = "no_mail.rs")]
mod opening;
#[cfg(feature = "mail")]
mod prose;
#[cfg(feature = "mail")]
mod sender;
#[cfg(feature = "mail")]
mod subject;

pub use config::{MailConfig, MailTls};
