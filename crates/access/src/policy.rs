//! The policy: the file of accounts, compiled for look-ups.

use crate::{
    document::Document, name::Name, password::StoredPassword, rights::Rights, rule::Rule, secret::Digest,
    token::TokenId, verb::VerbSet,
};
use oasis_wire::quantity::Nanos;
use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

/// One state of the file. It never changes; another state is another policy.
#[derive(Debug)]
pub(crate) struct Policy {
    pub(crate) document: Document,
    pub(crate) local: Arc<Rights>,
    pub(crate) stranger: Arc<Rights>,
    pub(crate) users: HashMap<Name, Account>,
    pub(crate) tokens: HashMap<TokenId, TokenAccount>,
}

#[derive(Debug)]
pub(crate) struct Account {
    pub(crate) name: Arc<str>,
    pub(crate) password: Option<StoredPassword>,
    pub(crate) rights: Arc<Rights>,
    /// Changes with the password. Sessions with another stamp have ended.
    pub(crate) stamp: Digest,
}

#[derive(Debug)]
pub(crate) struct TokenAccount {
    pub(crate) name: Arc<str>,
    pub(crate) digest: Digest,
    pub(crate) rights: Arc<Rights>,
    pub(crate) is_embed: bool,
    pub(crate) expires: Nanos,
}

impl Policy {
    /// Compiles a document that was checked.
    pub(crate) fn new(document: Document) -> Self {
        let (local, stranger) = document.implicit_roles();
        let of_roles = |roles| Arc::new(rights(&document, roles, VerbSet::ALL, &[]));
        let (local, stranger) = (of_roles(local), of_roles(stranger));
        let users = document.users().iter().map(|(name, user)| {
            let account = Account {
                name: name.as_str().into(),
                password: user.password.clone(),
                rights: Arc::new(rights(&document, &user.roles, VerbSet::ALL, &[])),
                stamp: stamp(user.password.as_ref(), user.created.0),
            };
            (name.clone(), account)
        });
        let users: HashMap<_, _> = users.collect();
        let tokens = document.tokens().iter().map(|(id, token)| {
            let owner = token.owner.as_ref().and_then(|owner| document.users().get(owner));
            let is_owned = |role: &&Name| owner.is_none_or(|owner| owner.roles.contains(*role));
            let roles: BTreeSet<Name> = token.roles.iter().filter(is_owned).cloned().collect();
            let mask = if token.embed { VerbSet::READ_VERBS } else { VerbSet::ALL };
            let account = TokenAccount {
                name: token.name.as_str().into(),
                digest: token.sha256,
                rights: Arc::new(rights(&document, &roles, mask, &token.scope)),
                is_embed: token.embed,
                expires: token.expires.map_or(Nanos(u64::MAX), |time| time.0),
            };
            (*id, account)
        });
        let tokens: HashMap<_, _> = tokens.collect();
        Self { local, stranger, users, tokens, document }
    }
}

/// Returns the rights of some roles together.
fn rights(document: &Document, roles: &BTreeSet<Name>, mask: VerbSet, scope: &[Rule]) -> Rights {
    let rules: Vec<Rule> =
        roles.iter().filter_map(|role| document.rules_of(role.as_str())).flatten().collect();
    Rights::new(&rules, mask, scope)
}

fn stamp(password: Option<&StoredPassword>, created: Nanos) -> Digest {
    match password {
        Some(password) => Digest::of(password.as_str()),
        None => Digest::of(&created.to_string()),
    }
}
