//! Commands: each asks for its own verb on its own instance, and is recorded before it is sent.

use super::{Caller, NotRecorded, Outcome, Permissions, refusal::Refusal};
use crate::problem::Problem;
use oasis_access::Verb;
use oasis_channel::InstanceState;
use oasis_dac::{Author, CommandError, Dac, NamedRequest, now};
use serde_json::{Value, json};
use std::sync::Arc;

/// Why a command was not carried out.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CommandFailure {
    /// The command is not permitted.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The command cannot be recorded, so it was not sent.
    #[error(transparent)]
    NotRecorded(#[from] NotRecorded),
    /// The command failed.
    #[error(transparent)]
    Failed(#[from] CommandError),
}

impl CommandFailure {
    /// Returns the code for programs.
    pub fn code(&self) -> &str {
        match self {
            Self::Refused(refusal) => refusal.code(),
            Self::NotRecorded(_) => NotRecorded::CODE,
            Self::Failed(error) => error.code(),
        }
    }
}

impl Outcome for CommandFailure {}

impl From<CommandFailure> for Problem {
    fn from(failure: CommandFailure) -> Self {
        match failure {
            CommandFailure::Refused(refusal) => Self::from(refusal).recorded(),
            CommandFailure::NotRecorded(error) => error.into(),
            CommandFailure::Failed(error) => error.into(),
        }
    }
}

impl Permissions {
    /// Sends a command of a caller, if it is permitted. `door` goes into the journal with the caller. The command continues if the future
    /// is dropped.
    ///
    /// # Errors
    /// If it is not permitted, cannot be recorded, or fails.
    pub async fn command(
        self: &Arc<Self>,
        dac: &Arc<Dac>,
        caller: &Caller,
        door: &str,
        (node, instance): (String, String),
        wish: NamedRequest,
    ) -> Result<InstanceState, CommandFailure> {
        let verb = Verb::of(&wish.request);
        let target = format!("{node}/{instance}");
        let arguments = arguments(&wish);
        if let Err(refusal) = caller.authorize_instance(verb, &node, &instance) {
            self.record_refusal(caller, verb.word(), &target, arguments, &refusal).await;
            return Err(refusal.into());
        }
        let (dac, who, name) = (dac.clone(), caller.author(door), caller.principal().to_string());
        let sending = async move {
            let author = Author { who: &who, name: &name };
            let sent = dac.commands.execute(&dac.registry, (&node, &instance), wish, author, now()).await;
            sent.map_err(CommandFailure::from)
        };
        self.recorded(caller, verb.word(), target, arguments, sending).await
    }
}

/// Returns the arguments of a command besides its name.
fn arguments(wish: &NamedRequest) -> Value {
    match serde_json::to_value(wish) {
        Ok(Value::Object(mut fields)) => {
            fields.remove("command");
            if fields.is_empty() { Value::Null } else { fields.into() }
        }
        _ => json!(null),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::verbs::COMMANDS, *};

    #[test]
    fn the_list_of_commands_has_each_verb_of_one() {
        let of_commands = Verb::ALL.iter().filter(|verb| verb.word().starts_with("command:"));
        assert!(of_commands.clone().all(|verb| COMMANDS.contains(verb)));
        assert_eq!(of_commands.count(), COMMANDS.len());
    }

    #[test]
    fn arguments_are_the_uuid_and_what_a_command_says_besides_its_name() {
        let uuid = "0d9cdd2c-1111-4222-8333-000000000001";
        let text = format!(r#"{{"uuid":"{uuid}","command":"hertz","hertz":2}}"#);
        let hertz: NamedRequest = serde_json::from_str(&text).unwrap();
        assert_eq!(arguments(&hertz), json!({"uuid": uuid, "hertz": 2.0}));
    }
}
