//! Why something was not permitted, as clients learn it.

use super::verbs::COMMANDS;
use crate::problem::Problem;
use axum::http::StatusCode;
use oasis_access::{Principal, Target, Verb, Verdict};

/// Why something was not permitted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The caller has not signed in.
    #[error("sign in first (POST /api/v1/session), or send a token (Authorization: Bearer)")]
    SignIn,
    /// The caller may see the target, but not do this.
    #[error("{who} has no permission {verbs}{place}: see docs/reference/permissions.md", place = Self::place(.target))]
    Forbidden {
        /// The principal.
        who: String,
        /// The verb, or all that would do.
        verbs: String,
        /// `NODE/INSTANCE`; empty for the DAC.
        target: String,
    },
    /// The caller may not know of the instance: the answer is that of an unknown one.
    #[error("node {node:?} has no instance {instance:?}")]
    Hidden {
        /// Its node.
        node: String,
        /// Its name.
        instance: String,
    },
}

impl Refusal {
    pub(super) fn new(verdict: Verdict, who: &Principal, verbs: &[Verb], target: Target<'_>) -> Self {
        let (node, instance) = match target {
            Target::Instance { node, instance } => (node, instance),
            Target::Node(node) | Target::SomeOfNode(node) => (node, "*"),
            Target::Dac | Target::SomeOfDac => ("", ""),
        };
        match verdict {
            Verdict::SignIn => Self::SignIn,
            Verdict::Hidden => Self::Hidden { node: node.into(), instance: instance.into() },
            Verdict::Forbidden | Verdict::Allowed => {
                let target = if node.is_empty() { String::new() } else { format!("{node}/{instance}") };
                Self::Forbidden { who: who.to_string(), verbs: words(verbs), target }
            }
        }
    }

    fn place(target: &str) -> String {
        if target.is_empty() { String::new() } else { format!(" on {target:?}") }
    }

    /// Returns the code for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::SignIn => "sign_in_required",
            Self::Forbidden { .. } => "forbidden",
            Self::Hidden { .. } => "unknown_instance",
        }
    }

    /// Returns the word in the audit log.
    pub fn word(&self) -> &'static str {
        match self {
            Self::SignIn => Verdict::SignIn.word(),
            Self::Forbidden { .. } => Verdict::Forbidden.word(),
            Self::Hidden { .. } => Verdict::Hidden.word(),
        }
    }
}

/// The words of verbs of which one would do.
fn words(verbs: &[Verb]) -> String {
    if verbs == COMMANDS {
        return "command".into();
    }
    verbs.iter().map(|verb| verb.word()).collect::<Vec<_>>().join(" or ")
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let status = match refusal {
            Refusal::SignIn => StatusCode::UNAUTHORIZED,
            Refusal::Forbidden { .. } => StatusCode::FORBIDDEN,
            Refusal::Hidden { .. } => StatusCode::NOT_FOUND,
        };
        Self::new(status, refusal.code(), refusal.to_string())
    }
}
