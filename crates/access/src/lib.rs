//! Access control: principals, permissions, sign-in, tokens, and the audit log.
//!
//! A [`Principal`] asks for an action: a user on this host, a signed-in person, a program with a token, or a
//! stranger. Roles give it [rules](Rule): verbs on the instances that match two patterns. Every door asks one function,
//! [`decide`], before it serves anything. [`Access`] makes principals from cookies, tokens and tickets, and keeps the
//! rights of open streams current. The [`AuditLog`] remembers who did what; its records are synced and chained.
//!
//! All of it is synchronous and knows no HTTP.
//!
//! ```
//! use oasis_access::{Access, AccessConfig, Moment, NewToken, Target, Verb, decide};
//!
//! let folder = tempfile::tempdir()?;
//! let access = Access::open(&folder.path().join("access"), &AccessConfig::default())?;
//! let kiosk = NewToken {
//!     name: "kiosk".parse()?,
//!     roles: ["viewer".parse()?].into(),
//!     owner: None,
//!     embed: true,
//!     scope: vec!["read plant-7/*".parse()?],
//!     expires: None,
//! };
//! let (_, secret) = access.change(|accounts| accounts.create_token(kiosk, Moment::now().wall))?;
//!
//! let kiosk = access.token(secret.reveal(), Moment::now())?;
//! let pump = Target::Instance { node: "plant-7", instance: "pump" };
//! assert!(decide(&kiosk, Verb::ReadLive, pump).is_allowed());
//! assert!(!decide(&kiosk, Verb::Disable, pump).is_allowed());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// Words of rules.
mod name;
mod pattern;
mod role;
mod rule;
mod verb;
// Decisions.
mod decide;
mod principal;
mod rights;
mod target;
// The content of the accounts.
mod document;
mod guess;
mod last_use;
mod password;
mod policy;
mod private_file;
mod secret;
mod store;
mod time_text;
mod token;
// Identification of callers.
mod access;
mod config;
mod follow;
mod gate;
mod host;
mod moment;
mod nodes;
mod oidc_config;
mod repeat;
mod sessions;
mod sign_in;
mod throttle;
mod tickets;
mod watch;
// Records of actions.
mod audit;

pub use access::{Access, Ended};
pub use audit::{
    AuditError, AuditLimits, AuditLog, AuditWatch, Event, Finding, Head, HeadError, LogPosition,
    NewestRecords, Receipt, Record, Report, newest_records, read_records, verify,
};
pub use config::{AccessConfig, LocalAccess};
pub use decide::{Verdict, decide};
pub use document::{ChangeError, Document, LOCAL, NewToken, Role, STRANGER, Token, User, VouchedUser};
pub use follow::{AccountsCopy, CopyError, CopyState, FollowError, MAX_COPY_BYTES, Position, PositionError};
pub use host::{LINK_SECONDS, host_token_file};
pub use last_use::read as read_last_uses;
pub use moment::Moment;
pub use name::{Name, NameError};
pub use nodes::{
    EnrolledCertificate, EnrolledNode, NODES_FILE, NodeChangeError, NodeRefusal, NodeRegister, SeenNode,
    ShownCertificate, read_seen_nodes,
};
pub use oidc_config::OidcConfig;
pub use password::{HashCost, MAX_PASSWORD_BYTES, PasswordError, StoredPassword};
pub use pattern::{Pattern, PatternError};
pub use principal::{Kind, Principal};
pub use rights::Rights;
pub use role::{BUILT_IN, BuiltIn};
pub use rule::{Rule, RuleError};
pub use secret::{Digest, Secret};
pub use sign_in::{SignInError, SignedIn};
pub use store::{FILE, Store, StoreError};
pub use target::Target;
pub use tickets::TicketError;
pub use time_text::Time;
pub use token::{PREFIX as TOKEN_PREFIX, TokenId, TokenIdError};
pub use verb::{Verb, VerbError, VerbSet, Verbs};
pub use watch::Watch;
