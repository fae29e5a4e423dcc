//! The commands that a node has executed, by UUID: one that comes again, through another DAC or relay, is answered and not executed.

use oasis_channel::{Failure, InstanceState, Outcome};
use oasis_wire::command::Command;
use std::collections::{HashMap, VecDeque};
use uuid::Uuid;

/// Commands remembered. The oldest is forgotten first.
const REMEMBERED: usize = 1_000;

/// Commands that succeeded. A command that failed has changed nothing, so it may be tried again.
#[derive(Debug, Default)]
pub struct Executed {
    known: HashMap<Uuid, Execution>,
    /// Oldest first.
    order: VecDeque<Uuid>,
}

#[derive(Debug)]
struct Execution {
    /// Index of the instance.
    instance: usize,
    command: Command,
    state: InstanceState,
}

impl Executed {
    /// Returns the outcome of the command with this UUID, if it was executed.
    pub fn outcome(&self, uuid: Uuid, instance: usize, command: &Command) -> Option<Outcome> {
        let known = self.known.get(&uuid)?;
        if known.instance == instance && known.command == *command {
            return Some(Outcome::Done(known.state));
        }
        let message =
            format!("UUID {uuid} names another command, which was executed: give each command its own");
        Some(Outcome::Failed(Failure::new("uuid_reused", message)))
    }

    /// Remembers a command that succeeded.
    pub fn remember(&mut self, uuid: Uuid, instance: usize, command: Command, state: InstanceState) {
        if self.order.len() == REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        if self.known.insert(uuid, Execution { instance, command, state }).is_none() {
            self.order.push_back(uuid);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATE: InstanceState = InstanceState { hertz: None, enabled: true, recorder: None };

    #[test]
    fn a_command_that_comes_again_has_the_outcome_of_the_first_time() {
        let (mut executed, uuid) = (Executed::default(), Uuid::from_u128(1));
        assert_eq!(executed.outcome(uuid, 0, &Command::Enable), None);
        executed.remember(uuid, 0, Command::Enable, STATE);
        assert_eq!(executed.outcome(uuid, 0, &Command::Enable), Some(Outcome::Done(STATE)));
    }

    #[test]
    fn a_uuid_does_not_name_two_commands() {
        let (mut executed, uuid) = (Executed::default(), Uuid::from_u128(1));
        executed.remember(uuid, 0, Command::Enable, STATE);
        for (instance, command) in [(1, Command::Enable), (0, Command::Disable)] {
            let Some(Outcome::Failed(failure)) = executed.outcome(uuid, instance, &command) else {
                panic!("it is refused")
            };
            assert_eq!(failure.code, "uuid_reused");
        }
    }

    #[test]
    fn the_oldest_of_a_thousand_commands_is_forgotten() {
        let mut executed = Executed::default();
        for number in 0..=REMEMBERED as u128 {
            executed.remember(Uuid::from_u128(number), 0, Command::Enable, STATE);
        }
        assert_eq!(executed.outcome(Uuid::from_u128(0), 0, &Command::Enable), None);
        assert!(executed.outcome(Uuid::from_u128(1), 0, &Command::Enable).is_some());
        assert_eq!((executed.known.len(), executed.order.len()), (REMEMBERED, REMEMBERED));
    }
}
