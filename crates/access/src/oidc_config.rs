//! The settings of sign-in by a provider of identity (`[access.oidc]`).

use crate::name::Name;
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

/// A provider that speaks OpenID Connect, and what its users get (`[access.oidc]`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OidcConfig {
    /// URL of the provider, as in its ID tokens; empty if no users sign in with a provider.
    pub issuer: String,
    /// Name of this DAC at the provider.
    pub client_id: String,
    /// File with the secret that the provider shares with this DAC, which others must not be able to read; empty if there
    /// is none.
    pub client_secret_file: PathBuf,
    /// URL to which the provider sends browsers back; empty for `/sign-in/oidc/callback` of the address that the browser
    /// has asked for.
    pub redirect_url: String,
    /// Scopes to request, besides `openid`.
    pub scopes: Vec<String>,
    /// Claim that becomes the name of the user.
    pub name_claim: String,
    /// Claim with the groups of the user.
    pub groups_claim: String,
    /// Roles of each group.
    pub roles: BTreeMap<String, BTreeSet<Name>>,
    /// Roles of everybody whom the provider vouches for.
    pub default_roles: BTreeSet<Name>,
    /// CA of the provider's certificate; empty for those that this system trusts.
    pub ca_file: PathBuf,
    /// Text of the button.
    pub label: String,
}

impl Default for OidcConfig {
    fn default() -> Self {
        Self {
            issuer: String::new(),
            client_id: String::new(),
            client_secret_file: PathBuf::new(),
            redirect_url: String::new(),
            scopes: vec!["profile".into()],
            name_claim: "preferred_username".into(),
            groups_claim: "groups".into(),
            roles: BTreeMap::new(),
            default_roles: BTreeSet::new(),
            ca_file: PathBuf::new(),
            label: "Sign in with OpenID Connect".into(),
        }
    }
}

impl OidcConfig {
    /// Whether people can sign in so.
    pub fn is_enabled(&self) -> bool {
        !self.issuer.is_empty()
    }

    /// Returns the roles of a user of these groups; none if the accounts alone decide.
    pub fn roles_of<'a>(&self, groups: impl IntoIterator<Item = &'a str>) -> Option<BTreeSet<Name>> {
        if self.roles.is_empty() && self.default_roles.is_empty() {
            return None;
        }
        let of_groups = groups.into_iter().filter_map(|group| self.roles.get(group)).flatten();
        Some(of_groups.chain(&self.default_roles).cloned().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_come_from_groups_or_from_the_accounts() {
        let role = |name: &str| -> Name { name.parse().unwrap() };
        let mut config = OidcConfig::default();
        assert_eq!(config.roles_of(["fitters"]), None);
        config.roles.insert("fitters".into(), [role("operator"), role("fitter")].into());
        assert_eq!(config.roles_of(["fitters", "others"]), Some([role("operator"), role("fitter")].into()));
        assert_eq!(config.roles_of(["others"]), Some(BTreeSet::new()));
        config.default_roles.insert(role("viewer"));
        assert_eq!(config.roles_of([]), Some([role("viewer")].into()));
    }
}
