//! Who may do what at the doors and in the API: everything asks here, and here [`oasis_access`] is asked.
//!
//! A request gets its [`Caller`] ([`Permissions::identify`]) and passes the [`Requirement`] of its [`Routes`] before its handler runs. The handler asks the caller about
//! single instances. A stream [refreshes](Caller::refresh) its caller once a second. What must be remembered is [recorded](Permissions::recorded) before it happens.

mod caller;
mod command;
mod enforce;
mod identify;
mod nodes;
mod record;
mod refusal;
mod refusal_budget;
mod routes;

pub use caller::Caller;
pub use command::{COMMANDS, CommandFailure, verb_of};
pub use enforce::forgotten;
pub use identify::{cookie_name, named_cookie, session_cookie};
pub use nodes::nanos;
pub use record::{NotRecorded, Outcome};
pub use refusal::Refusal;
pub use routes::{READ, Requirement, Route, Routes};

use oasis_access::{Access, AccessConfig, AuditLog, Watch};
use oasis_dac::LogLimit;
use refusal_budget::RefusalBudget;
use std::{io, path::Path, sync::Arc, time::Duration};

/// Refusals that are recorded in a [`PERIOD`]: nobody may fill the audit log by trying.
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
    /// Notices changes of the file of accounts.
    watch: Option<Watch>,
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
        permissions.watch = Some(Watch::start(permissions.access.clone())?);
        Ok(permissions)
    }

    /// Lets everybody do everything: for networks without anybody else.
    pub fn open_to_all() -> Self {
        let mut access = Access::in_memory(&AccessConfig::default());
        access.trust_strangers();
        Self::of(access, None)
    }

    /// The folder of the audit log, if there is one.
    pub fn audit_folder(&self) -> Option<&Path> {
        self.audit.as_deref().map(AuditLog::folder)
    }

    fn of(access: Access, audit: Option<AuditLog>) -> Self {
        let (refusals, refused_nodes) = (RefusalBudget::default(), LogLimit::new(REFUSALS, PERIOD));
        Self { access: Arc::new(access), audit: audit.map(Arc::new), refusals, refused_nodes, watch: None }
    }
}
