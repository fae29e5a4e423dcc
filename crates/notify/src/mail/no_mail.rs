//! In place of mail, for programs that are built without it.

use super::MailConfig;
use crate::{
    destination::Destination,
    setting::{ConfigError, Table},
};
use std::sync::Arc;

impl MailConfig {
    pub(crate) fn open(&self, table: Table<'_>) -> Result<Arc<dyn Destination>, ConfigError> {
        Err(ConfigError::NoMail(table.key("kind")))
    }
}
