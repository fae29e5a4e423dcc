//! The claims of the provider, and the identity that they are of.

use crate::{
    error::{SignInFailure, shortened},
    identity::Identity,
};
use oasis_access::OidcConfig;
use openidconnect::AdditionalClaims;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Most groups that are checked.
const MAX_GROUPS: usize = 1_000;

/// Claims beyond those of the standard.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Claims(pub Map<String, Value>);

impl AdditionalClaims for Claims {}

/// Takes the identity from claims.
///
/// # Errors
/// If they have no name that a user may have.
pub fn identity_of(
    config: &OidcConfig,
    issuer: &str,
    subject: &str,
    claims: &Map<String, Value>,
) -> Result<Identity, SignInFailure> {
    let found = claims.get(&config.name_claim);
    let name = found.and_then(Value::as_str).and_then(|name| name.parse().ok());
    let name = name.ok_or_else(|| SignInFailure::Name {
        claim: config.name_claim.clone(),
        found: found.map_or_else(|| "absent".into(), |found| shortened(&found.to_string())),
    })?;
    let groups = match claims.get(&config.groups_claim) {
        Some(Value::Array(groups)) => groups.iter().take(MAX_GROUPS).filter_map(Value::as_str).collect(),
        Some(Value::String(group)) => vec![group.as_str()],
        _ => Vec::new(),
    };
    let groups = groups.into_iter().map(str::to_owned).collect();
    Ok(Identity { subject: format!("{issuer} {subject}"), name, groups })
}

/// Whether all claims that name and roles need are there.
pub fn is_complete(config: &OidcConfig, claims: &Map<String, Value>) -> bool {
    let needs_groups = !config.roles.is_empty();
    claims.contains_key(&config.name_claim) && (!needs_groups || claims.contains_key(&config.groups_claim))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn identity(claims: Value) -> Result<Identity, SignInFailure> {
        let claims = claims.as_object().unwrap();
        identity_of(&OidcConfig::default(), "https://id.example", "7", claims)
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
