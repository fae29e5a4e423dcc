//! The file of accounts: users, tokens and roles, and how they may be changed.

use crate::{
    name::{Name, NameError},
    password::StoredPassword,
    pattern::Pattern,
    role::{BuiltIn, ENROLLER},
    rule::Rule,
    secret::{Digest, Secret},
    time_text::Time,
    token::{self, TokenId},
    verb::{Verb, Verbs},
};
use oasis_wire::quantity::Nanos;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::{
    collections::{BTreeMap, BTreeSet},
    io,
};

/// Version of the format.
const VERSION: u32 = 1;
/// Bounds of the file.
const MAX_USERS: usize = 10_000;
const MAX_TOKENS: usize = 10_000;
const MAX_ROLES: usize = 200;
const MAX_RULES: usize = 100;
const MAX_ROLES_OF_ONE: usize = 32;
/// Longest subject, bytes: OpenID Connect allows 255 for its own part.
const MAX_SUBJECT_BYTES: usize = 1_024;

/// A caller on this host that has not signed in.
pub const LOCAL: &str = "local";
/// A caller on another host that has not signed in.
pub const STRANGER: &str = "stranger";

/// The content of `access.toml`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    version: u32,
    /// Roles of principals that have not signed in from this host.
    #[serde(default = "local_roles")]
    local: BTreeSet<Name>,
    /// Roles of all others that have not signed in.
    #[serde(default)]
    stranger: BTreeSet<Name>,
    #[serde(default)]
    roles: BTreeMap<Name, Role>,
    #[serde(default)]
    users: BTreeMap<Name, User>,
    #[serde(default)]
    tokens: BTreeMap<TokenId, Token>,
}

/// A custom role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Role {
    /// The rules that it permits.
    pub rules: Vec<Rule>,
}

/// A user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct User {
    /// Its roles.
    pub roles: BTreeSet<Name>,
    /// Its password; absent if it signs in by another provider of identity.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "stored_password")]
    pub password: Option<StoredPassword>,
    /// Its subject at the provider of identity, as `ISSUER SUBJECT`; absent before it has signed in with that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// When it was added.
    pub created: Time,
}

/// A user whom a provider of identity vouches for.
#[derive(Debug, Clone)]
pub struct VouchedUser {
    /// Its name here.
    pub name: Name,
    /// Its subject at the provider, as `ISSUER SUBJECT`: that never changes, and names no one else.
    pub subject: String,
    /// Its roles; none if the accounts decide.
    pub roles: Option<BTreeSet<Name>>,
}

/// An API token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Token {
    /// Its purpose.
    pub name: Name,
    /// SHA-256 of the token, 64 hexadecimal digits.
    #[serde(with = "digest")]
    pub sha256: Digest,
    /// Its roles.
    pub roles: BTreeSet<Name>,
    /// The user that it belongs to: roles that the user does not have do not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Name>,
    /// Whether it may only read, in pages that other sites embed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub embed: bool,
    /// Whether it is good for one enrollment of a node.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub once: bool,
    /// Further limits; none for no limit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scope: Vec<Rule>,
    /// When it was made.
    pub created: Time,
    /// When it expires; absent for never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Time>,
}

/// A token to be made.
#[derive(Debug, Clone)]
pub struct NewToken {
    /// Its purpose.
    pub name: Name,
    /// Its roles.
    pub roles: BTreeSet<Name>,
    /// The user that it belongs to.
    pub owner: Option<Name>,
    /// Whether it may only read, in pages that other sites embed.
    pub embed: bool,
    /// Further limits; none for no limit.
    pub scope: Vec<Rule>,
    /// When it expires; absent for never.
    pub expires: Option<Nanos>,
}

/// Why accounts cannot be as they would be.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// A version of the file that this program does not know.
    #[error("version {0} of the file is unknown: this program knows version {VERSION}")]
    Version(u32),
    /// The name has another meaning.
    #[error("{0} is a reserved name: choose another one")]
    Reserved(Name),
    /// A text is not a name.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The user or role exists.
    #[error("there is a {kind} {name} already")]
    Exists {
        /// `user` or `role`.
        kind: &'static str,
        /// Its name.
        name: Name,
    },
    /// The user, role or token does not exist.
    #[error("there is no {kind} {name}: list them with `oasis {kind} list`")]
    Unknown {
        /// `user`, `role` or `token`.
        kind: &'static str,
        /// Its name.
        name: String,
    },
    /// An account has a role that does not exist.
    #[error("{holder} has the role {role}, which does not exist: define it with `oasis role set {role}`")]
    UnknownRole {
        /// The account with the role.
        holder: String,
        /// The role.
        role: Name,
    },
    /// A role that cannot be changed.
    #[error("{0} is a built-in role and cannot be changed: set another one")]
    BuiltIn(Name),
    /// A role that an account has.
    #[error("{holder} has the role {role}: take it away first")]
    RoleInUse {
        /// The account with the role.
        holder: String,
        /// The role.
        role: Name,
    },
    /// The account belongs to another subject.
    #[error(
        "the account {0} belongs to somebody else: an administrator removes it, or adds it with --no-password"
    )]
    OtherSubject(Name),
    /// A bound is reached.
    #[error("{what}: {count} are more than the {most} that are allowed")]
    TooMany {
        /// The items of which there are too many.
        what: String,
        /// Their number.
        count: usize,
        /// Their maximum number.
        most: usize,
    },
    /// A role or scope without rules, or a user without roles, does nothing.
    #[error("{0} needs at least one {1}")]
    Empty(String, &'static str),
    /// No random numbers.
    #[error("no token can be made: {0}")]
    Random(#[from] io::Error),
}

impl Default for Document {
    fn default() -> Self {
        Self {
            version: VERSION,
            local: local_roles(),
            stranger: BTreeSet::new(),
            roles: BTreeMap::new(),
            users: BTreeMap::new(),
            tokens: BTreeMap::new(),
        }
    }
}

/// On this host everything works without signing in, unless the file says otherwise.
fn local_roles() -> BTreeSet<Name> {
    "admin".parse().into_iter().collect()
}

impl Document {
    /// Returns the users.
    pub fn users(&self) -> &BTreeMap<Name, User> {
        &self.users
    }

    /// Returns the tokens.
    pub fn tokens(&self) -> &BTreeMap<TokenId, Token> {
        &self.tokens
    }

    /// Returns the custom roles.
    pub fn roles(&self) -> &BTreeMap<Name, Role> {
        &self.roles
    }

    /// Returns the roles of those who have not signed in: on this host, and elsewhere.
    pub fn implicit_roles(&self) -> (&BTreeSet<Name>, &BTreeSet<Name>) {
        (&self.local, &self.stranger)
    }

    /// Returns the rules of a role.
    pub fn rules_of(&self, role: &str) -> Option<Vec<Rule>> {
        let custom = self.roles.get(role).map(|role| role.rules.clone());
        custom.or_else(|| BuiltIn::find(role).map(BuiltIn::rules))
    }

    /// Adds a user.
    ///
    /// # Errors
    /// If the user exists, or the roles do not.
    pub fn add_user(
        &mut self,
        name: Name,
        password: Option<StoredPassword>,
        roles: BTreeSet<Name>,
        now: Nanos,
    ) -> Result<(), ChangeError> {
        if self.users.contains_key(&name) {
            return Err(ChangeError::Exists { kind: "user", name });
        }
        self.users.insert(name, User { roles, password, subject: None, created: Time(now) });
        self.check()
    }

    /// Adds a user whom a provider vouches for, or updates its roles. Returns whether anything changes.
    ///
    /// # Errors
    /// If the user does not exist and the provider gives no roles, or the account belongs to another subject: it has a
    /// password,
    /// or another subject.
    pub fn vouch(&mut self, who: VouchedUser, now: Nanos) -> Result<bool, ChangeError> {
        let VouchedUser { name, subject, roles } = who;
        let Some(user) = self.users.get_mut(&name) else {
            let roles = roles.ok_or_else(|| unknown("user", name.as_str()))?;
            let user = User { roles, password: None, subject: Some(subject), created: Time(now) };
            self.users.insert(name, user);
            return self.check().map(|()| true);
        };
        let is_own = match &user.subject {
            Some(known) => *known == subject,
            None => user.password.is_none(),
        };
        if !is_own {
            return Err(ChangeError::OtherSubject(name));
        }
        let after = User {
            subject: Some(subject),
            roles: roles.unwrap_or_else(|| user.roles.clone()),
            ..user.clone()
        };
        let is_change = *user != after;
        *user = after;
        self.check().map(|()| is_change)
    }

    /// Removes a user and its tokens. Returns the number of these tokens.
    ///
    /// # Errors
    /// If there is no such user.
    pub fn remove_user(&mut self, name: &str) -> Result<usize, ChangeError> {
        self.users.remove(name).ok_or_else(|| unknown("user", name))?;
        let before = self.tokens.len();
        self.tokens.retain(|_, token| token.owner.as_ref().is_none_or(|owner| owner.as_str() != name));
        Ok(before - self.tokens.len())
    }

    /// Sets the roles of a user, or of `local` or `stranger`.
    ///
    /// # Errors
    /// If there is no such user, or a role does not exist.
    pub fn set_roles(&mut self, name: &str, roles: BTreeSet<Name>) -> Result<(), ChangeError> {
        match name {
            LOCAL => self.local = roles,
            STRANGER => self.stranger = roles,
            _ => self.users.get_mut(name).ok_or_else(|| unknown("user", name))?.roles = roles,
        }
        self.check()
    }

    /// Sets the password of a user. This ends its sessions.
    ///
    /// # Errors
    /// If there is no such user.
    pub fn set_password(&mut self, name: &str, password: StoredPassword) -> Result<(), ChangeError> {
        self.users.get_mut(name).ok_or_else(|| unknown("user", name))?.password = Some(password);
        Ok(())
    }

    /// Makes a token. It is returned once, and only its digest is kept.
    ///
    /// # Errors
    /// If owner or roles do not exist.
    pub fn create_token(&mut self, new: NewToken, now: Nanos) -> Result<(TokenId, Secret), ChangeError> {
        let mut id = TokenId::random()?;
        while self.tokens.contains_key(&id) || id == TokenId::HOST {
            id = TokenId::random()?;
        }
        let (secret, sha256) = token::make(id)?;
        let NewToken { name, roles, owner, embed, scope, expires } = new;
        let (created, expires, once) = (Time(now), expires.map(Time), false);
        self.tokens.insert(id, Token { name, sha256, roles, owner, embed, once, scope, created, expires });
        self.check()?;
        Ok((id, secret))
    }

    /// Makes a token that enrolls one node whose name matches.
    ///
    /// # Errors
    /// If there are too many tokens.
    pub fn create_enrollment_token(
        &mut self,
        name: Name,
        node: Pattern,
        expires: Nanos,
        now: Nanos,
    ) -> Result<(TokenId, Secret), ChangeError> {
        let verbs = Verbs::parse([Verb::Enroll.word()]);
        let scope = verbs.map(|verbs| Rule { verbs, node, instance: Pattern::All }).into_iter().collect();
        let roles = [ENROLLER.parse()?].into();
        let new = NewToken { name, roles, owner: None, embed: false, scope, expires: Some(expires) };
        let (id, secret) = self.create_token(new, now)?;
        if let Some(token) = self.tokens.get_mut(&id) {
            token.once = true;
        }
        Ok((id, secret))
    }

    /// Revokes tokens by number or by name. Returns the numbers of those that were.
    ///
    /// # Errors
    /// If there is no such token.
    pub fn revoke_token(&mut self, which: &str) -> Result<Vec<TokenId>, ChangeError> {
        let is_meant =
            |(id, token): &(&TokenId, &Token)| which.parse() == Ok(**id) || token.name.as_str() == which;
        let revoked: Vec<_> = self.tokens.iter().filter(is_meant).map(|(id, _)| *id).collect();
        revoked.iter().for_each(|id| drop(self.tokens.remove(id)));
        if revoked.is_empty() { Err(unknown("token", which)) } else { Ok(revoked) }
    }

    /// Defines a role, in place of one of the same name.
    ///
    /// # Errors
    /// If it is built in, or there are no rules or too many.
    pub fn set_role(&mut self, name: Name, rules: Vec<Rule>) -> Result<(), ChangeError> {
        if BuiltIn::find(name.as_str()).is_some() {
            return Err(ChangeError::BuiltIn(name));
        }
        self.roles.insert(name, Role { rules });
        self.check()
    }

    /// Removes a role that no account has.
    ///
    /// # Errors
    /// If it is built in, an account has it, or it does not exist.
    pub fn remove_role(&mut self, name: &Name) -> Result<(), ChangeError> {
        if BuiltIn::find(name.as_str()).is_some() {
            return Err(ChangeError::BuiltIn(name.clone()));
        }
        if let Some((holder, _)) = self.holders().find(|(_, roles)| roles.contains(name)) {
            return Err(ChangeError::RoleInUse { holder, role: name.clone() });
        }
        self.roles.remove(name).map(|_| ()).ok_or_else(|| unknown("role", name.as_str()))
    }

    /// Everybody who has roles.
    fn holders(&self) -> impl Iterator<Item = (String, &BTreeSet<Name>)> {
        let implicit = [(LOCAL.to_owned(), &self.local), (STRANGER.to_owned(), &self.stranger)];
        let users = self.users.iter().map(|(name, user)| (format!("user {name}"), &user.roles));
        let tokens =
            self.tokens.iter().map(|(id, token)| (format!("token {id} ({})", token.name), &token.roles));
        implicit.into_iter().chain(users).chain(tokens)
    }

    /// Checks bounds and names. Whatever was read or changed passes this.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check(&self) -> Result<(), ChangeError> {
        if self.version != VERSION {
            return Err(ChangeError::Version(self.version));
        }
        bound(|| "users".into(), self.users.len(), MAX_USERS)?;
        bound(|| "tokens".into(), self.tokens.len(), MAX_TOKENS)?;
        bound(|| "roles".into(), self.roles.len(), MAX_ROLES)?;
        for (name, role) in &self.roles {
            if BuiltIn::find(name.as_str()).is_some() {
                return Err(ChangeError::BuiltIn(name.clone()));
            }
            if role.rules.is_empty() {
                return Err(ChangeError::Empty(format!("the role {name}"), "rule"));
            }
            bound(|| format!("rules of the role {name}"), role.rules.len(), MAX_RULES)?;
        }
        for (name, user) in &self.users {
            let length = user.subject.as_ref().map_or(0, String::len);
            bound(|| format!("bytes of the subject of {name}"), length, MAX_SUBJECT_BYTES)?;
        }
        if let Some(name) = self.users.keys().find(|name| [LOCAL, STRANGER].contains(&name.as_str())) {
            return Err(ChangeError::Reserved(name.clone()));
        }
        for (id, token) in &self.tokens {
            bound(|| format!("rules in the scope of token {id}"), token.scope.len(), MAX_RULES)?;
            if let Some(owner) = token.owner.as_ref().filter(|owner| !self.users.contains_key(*owner)) {
                return Err(unknown("user", owner.as_str()));
            }
            if token.roles.is_empty() {
                return Err(ChangeError::Empty(format!("token {id}"), "role"));
            }
        }
        self.holders().try_for_each(|(holder, roles)| self.check_roles(holder, roles))
    }

    fn check_roles(&self, holder: String, roles: &BTreeSet<Name>) -> Result<(), ChangeError> {
        bound(|| format!("roles of {holder}"), roles.len(), MAX_ROLES_OF_ONE)?;
        let exists = |role: &&Name| self.roles.contains_key(*role) || BuiltIn::find(role.as_str()).is_some();
        match roles.iter().find(|role| !exists(role)) {
            Some(role) => Err(ChangeError::UnknownRole { holder, role: role.clone() }),
            None => Ok(()),
        }
    }
}

fn unknown(kind: &'static str, name: &str) -> ChangeError {
    ChangeError::Unknown { kind, name: name.chars().take(64).collect() }
}

fn bound(what: impl FnOnce() -> String, count: usize, most: usize) -> Result<(), ChangeError> {
    if count > most { Err(ChangeError::TooMany { what: what(), count, most }) } else { Ok(()) }
}

/// A password in the file.
mod stored_password {
    use super::{Deserialize, Deserializer, Serializer, StoredPassword};
    use serde::de::Error as _;

    #[allow(clippy::ref_option, reason = "serde calls it so")]
    pub(super) fn serialize<S: Serializer>(from: &Option<StoredPassword>, to: S) -> Result<S::Ok, S::Error> {
        match from {
            Some(password) => to.serialize_str(password.as_str()),
            None => to.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<StoredPassword>, D::Error> {
        let text = String::deserialize(from)?;
        let refused = "not a password hash of argon2id: set it with `oasis user set-password`";
        StoredPassword::parse(&text).map(Some).ok_or_else(|| D::Error::custom(refused))
    }
}

/// The digest of a token in the file.
mod digest {
    use super::{Deserialize, Deserializer, Digest, Serializer};
    use serde::de::Error as _;

    pub(super) fn serialize<S: Serializer>(digest: &Digest, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(digest)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Digest, D::Error> {
        let text = String::deserialize(from)?;
        Digest::parse(&text).ok_or_else(|| D::Error::custom("not a SHA-256 of 64 hexadecimal digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::password::HashCost;

    fn name(text: &str) -> Name {
        text.parse().unwrap()
    }

    fn roles(names: &[&str]) -> BTreeSet<Name> {
        names.iter().map(|text| name(text)).collect()
    }

    fn token(owner: Option<&str>) -> NewToken {
        let owner = owner.map(name);
        NewToken {
            name: name("grafana"),
            roles: roles(&["viewer"]),
            owner,
            embed: false,
            scope: vec!["read plant/*".parse().unwrap()],
            expires: Some(Nanos(5_000_000_000)),
        }
    }

    fn filled() -> Document {
        let mut document = Document::default();
        let password = StoredPassword::decoy(HashCost { memory_kib: 8, passes: 1 }).unwrap();
        document.set_role(name("fitter"), vec!["read,command:enable plant-*/pump".parse().unwrap()]).unwrap();
        document
            .add_user(name("ada"), Some(password), roles(&["fitter", "viewer"]), Nanos(1_000_000_000))
            .unwrap();
        document.add_user(name("by-oidc"), None, roles(&[]), Nanos(0)).unwrap();
        document.create_token(token(Some("ada")), Nanos(0)).unwrap();
        document.create_token(token(None), Nanos(0)).unwrap();
        document
    }

    #[test]
    fn what_is_written_is_read() {
        let document = filled();
        let text = toml::to_string(&document).unwrap();
        assert_eq!(toml::from_str::<Document>(&text).unwrap(), document, "{text}");
        let empty: Document = toml::from_str("version = 1").unwrap();
        assert_eq!(empty, Document::default());
    }

    #[test]
    fn a_user_goes_with_its_tokens() {
        let mut document = filled();
        assert_eq!(document.remove_user("ada").unwrap(), 1);
        assert_eq!(document.tokens().len(), 1);
        assert!(matches!(document.remove_user("ada"), Err(ChangeError::Unknown { kind: "user", .. })));
        document.check().unwrap();
    }

    #[test]
    fn a_provider_vouches_for_its_own_users_alone() {
        let mut document = filled();
        let mut vouch = |who: &str, subject: &str, roles: Option<BTreeSet<Name>>| {
            document.vouch(VouchedUser { name: name(who), subject: subject.into(), roles }, Nanos(0))
        };
        // An account without a password belongs to the first subject that signs in.
        assert!(vouch("by-oidc", "https://id.example 7", None).unwrap());
        assert!(!vouch("by-oidc", "https://id.example 7", None).unwrap());
        assert!(vouch("by-oidc", "https://id.example 7", Some(roles(&["viewer"]))).unwrap());
        for (who, subject) in [("by-oidc", "https://id.example 8"), ("ada", "https://id.example 7")] {
            let refused = vouch(who, subject, Some(roles(&["admin"]))).unwrap_err();
            assert!(matches!(refused, ChangeError::OtherSubject(_)), "{refused}");
        }
        assert!(matches!(vouch("new", "x", None), Err(ChangeError::Unknown { kind: "user", .. })));
        assert!(vouch("new", "x", Some(roles(&["viewer"]))).unwrap());
        assert!(matches!(vouch("local", "x", Some(roles(&[]))), Err(ChangeError::Reserved(_))));
        assert!(document.users()["ada"].roles == roles(&["fitter", "viewer"]));
    }

    #[test]
    fn roles_that_do_not_exist_are_refused() {
        let mut document = filled();
        assert!(matches!(
            document.clone().set_roles("ada", roles(&["root"])),
            Err(ChangeError::UnknownRole { .. })
        ));
        assert!(matches!(document.remove_role(&name("fitter")), Err(ChangeError::RoleInUse { .. })));
        assert!(matches!(document.remove_role(&name("admin")), Err(ChangeError::BuiltIn(_))));
        assert!(matches!(document.set_role(name("viewer"), vec![]), Err(ChangeError::BuiltIn(_))));
        document.set_roles("ada", roles(&["viewer"])).unwrap();
        document.remove_role(&name("fitter")).unwrap();
        document.set_roles(LOCAL, roles(&[])).unwrap();
        document.set_roles(STRANGER, roles(&["viewer"])).unwrap();
        assert!(matches!(
            document.add_user(name("local"), None, roles(&[]), Nanos(0)),
            Err(ChangeError::Reserved(_))
        ));
    }

    #[test]
    fn tokens_are_revoked_by_number_or_name() {
        let mut document = filled();
        let id = *document.tokens().keys().next().unwrap();
        assert_eq!(document.clone().revoke_token("grafana").unwrap().len(), 2);
        assert_eq!(document.revoke_token(&id.to_string()).unwrap(), [id]);
        assert!(matches!(document.revoke_token("x"), Err(ChangeError::Unknown { kind: "token", .. })));
    }

    #[test]
    fn numbers_are_bounded() {
        let mut document = filled();
        let rules = vec!["read a/b".parse().unwrap(); MAX_RULES + 1];
        assert!(matches!(document.set_role(name("big"), rules), Err(ChangeError::TooMany { .. })));
        let many: BTreeSet<_> = (0..=MAX_ROLES_OF_ONE).map(|at| name(&format!("r{at}"))).collect();
        assert!(matches!(filled().set_roles("ada", many), Err(ChangeError::TooMany { .. })));
    }
}
