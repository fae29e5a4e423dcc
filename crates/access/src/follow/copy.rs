//! The content that a DAC with accounts gives to a follower, and the checks of the follower.

use crate::{
    document::{ChangeError, Document},
    nodes::{NodeChangeError, NodeRegister},
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::{fmt, str::FromStr};

/// Most bytes of an answer: the files of accounts and nodes at their bounds, as JSON.
pub const MAX_COPY_BYTES: u64 = 48 << 20;
/// Letters of the name of an authority or a process: 128 random bits.
const NAME_LETTERS: usize = 32;

/// A state of the accounts of one authority. It is written `AUTHORITY:ACCOUNTS:NODES`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// Name of the folder that the accounts come from: random, and the same for ever.
    pub authority: String,
    /// Revision of users, tokens and roles.
    pub accounts: u64,
    /// Revision of nodes.
    pub nodes: u64,
}

/// The accounts of a DAC, or what changed since a position.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AccountsCopy {
    /// The process of the DAC that keeps the accounts: one name. Followers of version 0.1 could pass copies on.
    pub path: Vec<String>,
    /// The present state.
    pub position: Position,
    /// Users, tokens and roles; absent if the follower has this revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accounts: Option<Document>,
    /// Enrolled and revoked nodes; absent if the follower has this revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<NodeRegister>,
}

/// Why a copy is refused. The one before stays.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// The address is its own.
    #[error("this DAC follows itself: name the DAC that keeps the accounts (access.follow)")]
    Itself,
    /// A copy that was passed on.
    #[error("the accounts of that DAC are a copy: name the DAC that keeps them (access.follow)")]
    Copied,
    /// A name that no process makes.
    #[error("the answer is not that of a DAC: it has no name of a process")]
    Form,
    /// Another folder of accounts.
    #[error(
        "these are the accounts of another authority ({found}, and not {known}): if they are right, stop this DAC, and move the files away from {folder}"
    )]
    OtherAuthority {
        /// The one of the copy.
        known: String,
        /// The one that was sent.
        found: String,
        /// The folder of the copy.
        folder: String,
    },
    /// An older copy would restore what was revoked since.
    #[error(
        "{what} have revision {found}, older than {known}, which this DAC has: if they were restored from a backup, stop this DAC, and move the files away from {folder}"
    )]
    Older {
        /// `accounts` or `nodes`.
        what: &'static str,
        /// The revision of the copy.
        known: u64,
        /// The one that was sent.
        found: u64,
        /// The folder of the copy.
        folder: String,
    },
    /// Something that changed was not sent.
    #[error("{0} have another revision, and were not sent")]
    Absent(&'static str),
    /// Users, tokens or roles that cannot be.
    #[error("{0}")]
    Accounts(#[from] ChangeError),
    /// Nodes that cannot be.
    #[error("{0}")]
    Nodes(#[from] NodeChangeError),
    /// A password that would take too long to check.
    #[error("the password of {0} costs too much to check")]
    Costly(String),
}

impl AccountsCopy {
    /// Checks an answer against the copy that the follower has.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub(super) fn check(
        &self,
        own: &str,
        known: Option<&Position>,
        folder: &str,
    ) -> Result<Position, CopyError> {
        match self.path.as_slice() {
            [name] if name == own => return Err(CopyError::Itself),
            [name] if is_name(name) => {}
            [name, ..] if is_name(name) => return Err(CopyError::Copied),
            _ => return Err(CopyError::Form),
        }
        let found = self.position.clone();
        if let Some(known) = known {
            if known.authority != found.authority {
                let (known, found) = (known.authority.clone(), found.authority);
                return Err(CopyError::OtherAuthority { known, found, folder: folder.into() });
            }
            let both = [("accounts", known.accounts, found.accounts), ("nodes", known.nodes, found.nodes)];
            if let Some((what, known, found)) = both.into_iter().find(|(_, known, found)| found < known) {
                return Err(CopyError::Older { what, known, found, folder: folder.into() });
            }
        }
        if self.accounts.is_none() && known.is_none_or(|known| known.accounts != found.accounts) {
            return Err(CopyError::Absent("accounts"));
        }
        if self.nodes.is_none() && known.is_none_or(|known| known.nodes != found.nodes) {
            return Err(CopyError::Absent("nodes"));
        }
        if let Some(accounts) = &self.accounts {
            accounts.check()?;
            let is_costly =
                |user: &crate::User| user.password.as_ref().is_some_and(crate::StoredPassword::is_costly);
            if let Some((name, _)) = accounts.users().iter().find(|(_, user)| is_costly(user)) {
                return Err(CopyError::Costly(name.to_string()));
            }
        }
        self.nodes.as_ref().map_or(Ok(()), NodeRegister::validate_strictly)?;
        Ok(found)
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.authority, self.accounts, self.nodes)
    }
}

/// A text that is no position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a position of accounts: write AUTHORITY:ACCOUNTS:NODES, as the answer before has it")]
pub struct PositionError;

impl FromStr for Position {
    type Err = PositionError;

    fn from_str(text: &str) -> Result<Self, PositionError> {
        let mut parts = text.split(':');
        let authority = parts.next().filter(|name| is_name(name)).ok_or(PositionError)?;
        let mut revision = || parts.next()?.parse().ok();
        let (accounts, nodes) = (revision().ok_or(PositionError)?, revision().ok_or(PositionError)?);
        let position = Self { authority: authority.into(), accounts, nodes };
        if parts.next().is_some() { Err(PositionError) } else { Ok(position) }
    }
}

/// Whether a text can be the name of an authority or a process.
pub(super) fn is_name(text: &str) -> bool {
    text.len() == NAME_LETTERS && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

impl Serialize for Position {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Position {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn name(letter: char) -> String {
        std::iter::repeat_n(letter, NAME_LETTERS).collect()
    }

    fn copy(accounts: u64, nodes: u64) -> AccountsCopy {
        AccountsCopy {
            path: vec![name('b')],
            position: Position { authority: name('a'), accounts, nodes },
            accounts: Some(Document::default()),
            nodes: Some(NodeRegister::default()),
        }
    }

    fn refused(copy: &AccountsCopy, known: Option<&Position>) -> String {
        copy.check(&name('f'), known, "/srv/access").unwrap_err().to_string()
    }

    #[test]
    fn a_follower_refuses_itself_and_a_copy_that_was_passed_on() {
        let path = |letters: &str| AccountsCopy { path: letters.chars().map(name).collect(), ..copy(1, 1) };
        assert!(refused(&path("f"), None).contains("follows itself"));
        assert!(refused(&path("bc"), None).contains("name the DAC that keeps them"));
        let unnamed = AccountsCopy { path: vec!["x".repeat(99)], ..copy(1, 1) };
        for answer in [unnamed, path("")] {
            assert!(refused(&answer, None).contains("not that of a DAC"));
        }
        path("b").check(&name('f'), None, "").unwrap();
    }

    #[test]
    fn another_authority_and_an_older_revision_are_refused() {
        let known = copy(5, 7).position;
        assert!(refused(&copy(4, 7), Some(&known)).contains("accounts have revision 4, older than 5"));
        assert!(refused(&copy(5, 6), Some(&known)).contains("nodes have revision 6"));
        let other = Position { authority: name('c'), ..known.clone() };
        assert!(refused(&copy(9, 9), Some(&other)).contains("another authority"));
        let empty = AccountsCopy { accounts: None, nodes: None, ..copy(6, 7) };
        assert!(refused(&empty, Some(&known)).contains("were not sent"));
        let unchanged = AccountsCopy { position: known.clone(), ..empty };
        assert_eq!(unchanged.check(&name('f'), Some(&known), "").unwrap(), known);
    }

    #[test]
    fn hostile_nodes_and_passwords_are_refused() {
        let mut answer = serde_json::to_value(copy(1, 1)).unwrap();
        answer["nodes"]["nodes"]["a\nb"] = serde_json::json!({});
        let hostile: AccountsCopy = serde_json::from_value(answer.clone()).unwrap();
        assert!(refused(&hostile, None).contains("control characters"));
        answer["nodes"]["nodes"] = serde_json::json!({});
        let costly = "$argon2id$v=19$m=1048576,t=64,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
        answer["accounts"]["users"]["ada"] =
            serde_json::json!({"roles": ["viewer"], "password": costly, "created": "2026-01-01T00:00:00Z"});
        let hostile: AccountsCopy = serde_json::from_value(answer.clone()).unwrap();
        assert!(refused(&hostile, None).contains("costs too much"));
        answer["accounts"]["users"] =
            serde_json::json!({"../x": {"roles": [], "created": "2026-01-01T00:00:00Z"}});
        assert!(serde_json::from_value::<AccountsCopy>(answer).is_err());
    }

    proptest! {
        #[test]
        fn a_position_is_read_as_it_was_written(accounts: u64, nodes: u64, bits: u128) {
            let position = Position { authority: format!("{bits:032x}"), accounts, nodes };
            prop_assert_eq!(position.to_string().parse(), Ok(position));
        }

        #[test]
        fn any_other_text_is_no_position(text in "[a-f0-9:]{0,60}|\\PC{0,60}") {
            if let Ok(position) = text.parse::<Position>() {
                prop_assert!(position.to_string().len() <= text.len());
            }
        }

        /// Whatever an answer says, an accepted position never goes back.
        #[test]
        fn revisions_never_go_back(known in (0_u64..9, 0_u64..9), answers in prop::collection::vec((0_u64..9, 0_u64..9), 0..20)) {
            let mut position = copy(known.0, known.1).position;
            for (accounts, nodes) in answers {
                if let Ok(next) = copy(accounts, nodes).check(&name('f'), Some(&position), "") {
                    prop_assert!(next.accounts >= position.accounts && next.nodes >= position.nodes);
                    position = next;
                }
            }
        }
    }
}
