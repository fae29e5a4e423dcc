//! Roles: named lists of rules.

use crate::{pattern::Pattern, rule::Rule, verb::Verbs};

/// A role that every installation has, and that cannot be changed.
#[derive(Debug, Clone, Copy)]
pub struct BuiltIn {
    /// Its name.
    pub name: &'static str,
    /// Its purpose.
    pub purpose: &'static str,
    /// Verbs on everything.
    pub verbs: &'static [&'static str],
}

/// The role of tokens that enroll nodes.
pub const ENROLLER: &str = "enroller";

/// The built-in roles.
pub const BUILT_IN: &[BuiltIn] = &[
    BuiltIn { name: "viewer", purpose: "watches", verbs: &["read"] },
    BuiltIn {
        name: "operator",
        purpose: "watches and acts",
        verbs: &["read", "command", "runs", "annotations", "alarms", "labels", "layouts", "export", "sql"],
    },
    BuiltIn { name: ENROLLER, purpose: "enrolls nodes", verbs: &["enroll"] },
    BuiltIn { name: "registrar", purpose: "lists DACs in the TEM", verbs: &["register"] },
    BuiltIn { name: "follower", purpose: "copies the accounts to another DAC", verbs: &["follow"] },
    BuiltIn { name: "admin", purpose: "may do everything", verbs: &["*"] },
];

impl BuiltIn {
    /// Returns the built-in role of this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        BUILT_IN.iter().find(|role| role.name == name)
    }

    /// Returns its rules.
    pub fn rules(&self) -> Vec<Rule> {
        // A test parses the verbs of all.
        let verbs = Verbs::parse(self.verbs.iter().copied());
        verbs.map(|verbs| Rule { verbs, node: Pattern::All, instance: Pattern::All }).into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_built_in_role_has_a_rule() {
        assert!(
            BUILT_IN.iter().all(|role| role.rules().len() == 1 && role.name.parse::<crate::Name>().is_ok())
        );
        assert!(BuiltIn::find("admin").is_some() && BuiltIn::find("root").is_none());
    }
}
