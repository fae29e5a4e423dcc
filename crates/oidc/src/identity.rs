//! Who has signed in: a subject, a name and groups, from the claims of the provider.

use crate::error::{SignInFailure, shortened};
use oasis_access::{Name, OidcConfig, Vouched};
use openidconnect::AdditionalClaims;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Most groups that are looked at.
const MOST_GROUPS: usize = 1_000;

/// Claims beyond those of the standard.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Claims(pub Map<String, Value>);

impl AdditionalClaims for Claims {}

/// Somebody whom the provider vouches for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Who it is, for the provider: `ISSUER SUBJECT`.
    pub subject: String,
    /// The name of the user.
    pub name: Name,
    /// Its groups at the provider.
    pub groups: Vec<String>,
}

impl Identity {
    /// Takes the identity from claims.
    ///
    /// # Errors
    /// If they have no name that a user may have.
    pub(crate) fn new(
        config: &OidcConfig,
        issuer: &str,
        subject: &str,
        claims: &Map<String, Value>,
    ) -> Result<Self, SignInFailure> {
        let found = claims.get(&config.name_claim);
        let name = found.and_then(Value::as_str).and_then(|name| name.parse().ok());
        let name = name.ok_or_else(|| SignInFailure::Name {
            claim: config.name_claim.clone(),
            found: found.map_or_else(|| "absent".into(), |found| shortened(&found.to_string())),
        })?;
        let groups = match claims.get(&config.groups_claim) {
            Some(Value::Array(groups)) => groups.iter().take(MOST_GROUPS).filter_map(Value::as_str).collect(),
            Some(Value::String(group)) => vec![group.as_str()],
            _ => Vec::new(),
        };
        let groups = groups.into_iter().map(str::to_owned).collect();
        Ok(Self { subject: format!("{issuer} {subject}"), name, groups })
    }

    /// Returns its account, with the roles of its groups.
    pub fn vouched(self, config: &OidcConfig) -> Vouched {
        let roles = config.roles_of(self.groups.iter().map(String::as_str));
        Vouched { name: self.name, subject: self.subject, roles }
    }
}

/// Whether all claims that name and roles need are there.
pub(crate) fn is_complete(config: &OidcConfig, claims: &Map<String, Value>) -> bool {
    let needs_groups = !config.roles.is_empty();
    claims.contains_key(&config.name_claim) && (!needs_groups || claims.contains_key(&config.groups_claim))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn identity(claims: Value) -> Result<Identity, SignInFailure> {
        let claims = claims.as_object().unwrap();
        Identity::new(&OidcConfig::default(), "https://id.example", "7", claims)
    }

    #[test]
    fn a_name_and_groups_are_claims() {
        let ada = identity(json!({"preferred_username": "ada", "groups": ["fitters", 7, "night"]})).unwrap();
        assert_eq!((ada.name.as_str(), ada.subject.as_str()), ("ada", "https://id.example 7"));
        assert_eq!(ada.groups, ["fitters", "night"]);
        assert_eq!(identity(json!({"preferred_username": "ada", "groups": "one"})).unwrap().groups, ["one"]);
    }

    #[test]
    fn a_name_that_no_user_may_have_is_refused() {
        for claims in [json!({}), json!({"preferred_username": 7}), json!({"preferred_username": "a b\n"})] {
            let refused = identity(claims).unwrap_err();
            assert!(refused.to_string().contains("access.oidc.name_claim"), "{refused}");
        }
    }
}
