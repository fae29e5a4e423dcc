//! The signed-in user: a subject, a name and groups.

use oasis_access::{Name, OidcConfig, VouchedUser};

/// A user whom the provider vouches for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Subject at the provider: `ISSUER SUBJECT`.
    pub subject: String,
    /// The name of the user.
    pub name: Name,
    /// Its groups at the provider.
    pub groups: Vec<String>,
}

impl Identity {
    /// Returns its account, with the roles of its groups.
    pub fn vouched(self, config: &OidcConfig) -> VouchedUser {
        let roles = config.roles_of(self.groups.iter().map(String::as_str));
        VouchedUser { name: self.name, subject: self.subject, roles }
    }
}
