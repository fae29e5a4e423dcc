//! Permissions of requests: all checks are made here, with [`oasis_access`].
//!
//! A request gets its [`Caller`] ([`Permissions::identify`]) and passes the [`Requirement`] of its [`Routes`] before its handler runs. The handler asks the caller about
//! single instances. A stream [refreshes](Caller::refresh) its caller once a second. What must be remembered is [recorded](Permissions::recorded) before it happens.

mod caller;
mod command;
mod earlier_commands;
mod enforce;
mod identify;
mod nodes;
mod record;
mod refusal;
mod refusal_budget;
mod routes;
mod verbs;

pub use caller::Caller;
pub use command::CommandFailure;
pub use enforce::forgotten;
pub use identify::{cookie_name, named_cookie, session_cookie};
pub use nodes::nanos;
pub use record::{NotRecorded, Outcome};
pub use refusal::Refusal;
pub use routes::{Requirement, Route, Routes};
pub use verbs::{COMMANDS, READ_VERBS};

use oasis_access::{Access, AccessConfig, AuditLog, AuditWatch, Watch};
use oasis_dac::LogLimit;
use refusal_budget::RefusalBudget;
use std::{io, path::Path, sync::Arc, time::Duration};

/// Refusals that are recorded in a [`PERIOD`]: an attacker must not be able to fill the audit log.
const REFUSALS: u32 = 100;
const PERIOD: Duration = Duration::from_secs(60);

/// The accounts and the audit log of a DAC.
#[derive(Debug)]
pub struct Permissions {
    /// Accounts, sessions and tokens.
    pub access: Arc<Access>,
    audit: Option<Arc<AuditLog>>,
    refusals: RefusalBudget,
    refused_nodes: LogLimit,
    /// Notice changes of the files of accounts, and damage of the audit log.
    watches: (Option<Watch>, Option<AuditWatch>),
}

impl Permissions {
    /// Without accounts and audit log: this host may do everything, others nothing.
    pub fn in_memory() -> Self {
        Self::of(Access::in_memory(&AccessConfig::default()), None)
    }

    /// With accounts that are read again when they change, and an audit log.
    ///
    /// # Errors
    /// If the system has no more threads.
    pub fn open(access: Access, audit: Option<AuditLog>) -> io::Result<Self> {
        let mut permissions = Self::of(access, audit);
        let audit = permissions.audit.clone().map(AuditWatch::start).transpose()?;
        permissions.watches = (Some(Watch::start(permissions.access.clone())?), audit);
        Ok(permissions)
    }

    /// Permits everything to all callers: for isolated networks.
    pub fn open_to_all() -> Self {
        let mut access = Access::in_memory(&AccessConfig::default());
        access.trust_strangers();
        Self::of(access, None)
    }

    /// Problems of the accounts and the audit log: the part, and the reason.
    pub fn problems(&self) -> impl Iterator<Item = (&'static str, String)> {
        let accounts = self.access.problem().map(|reason| ("accounts", reason));
        let audit = self.audit.as_ref().and_then(|audit| audit.problem()).map(|reason| ("audit log", reason));
        accounts.into_iter().chain(audit)
    }

    /// The audit log, if there is one.
    pub fn audit_log(&self) -> Option<&Arc<AuditLog>> {
        self.audit.as_ref()
    }

    /// The folder of the audit log, if there is one.
    pub fn audit_folder(&self) -> Option<&Path> {
        self.audit.as_deref().map(AuditLog::folder)
    }

    fn of(access: Access, audit: Option<AuditLog>) -> Self {
        let (refusals, refused_nodes) = (RefusalBudget::default(), LogLimit::new(REFUSALS, PERIOD));
        Self {
            access: Arc::new(access),
            audit: audit.map(Arc::new),
            refusals,
            refused_nodes,
            watches: (None, None),
        }
    }
}
