//! Commands to a device: one at a time, repeated until it answers.

use crate::{
    message::{AnnouncedInstance, CommandResult, ToDevice},
    uplink::Uplink,
};
use oasis_channel::{Failure, InstanceState, Outcome};
use oasis_probe::forward::ForwardedCommand;
use oasis_wire::command::Command;
use std::time::{Duration, Instant};

/// A command without an answer is repeated after this time.
const COMMAND_REPEAT_INTERVAL: Duration = Duration::from_millis(500);
/// Number of repetitions.
const REPETITIONS: u32 = 5;
/// Most commands that wait. The DAC never has more pending at one node.
const MAX_WAITING_COMMANDS: usize = 256;

/// The commands of a session.
#[derive(Debug, Default)]
pub struct Commands {
    /// Id of the last command.
    last_id: u32,
    pending: Option<Pending>,
}

#[derive(Debug)]
struct Pending {
    id: u32,
    command: ForwardedCommand,
    message: ToDevice,
    said: Option<Instant>,
    repetitions: u32,
}

impl Commands {
    /// A new session counts from 1. What the old one has not answered is unknown.
    pub fn begin_again(&mut self, uplink: &mut dyn Uplink) {
        self.last_id = 0;
        self.give_up(
            uplink,
            "device_restarted",
            "the device has restarted: whether it has executed the command is unknown",
        );
    }

    /// Returns the command to send now.
    pub fn due(
        &mut self,
        now: Instant,
        instances: &[AnnouncedInstance],
        uplink: &mut dyn Uplink,
    ) -> Option<ToDevice> {
        let is_lost = |pending: &Pending| {
            pending.repetitions >= REPETITIONS
                && pending
                    .said
                    .is_some_and(|said| now.saturating_duration_since(said) >= COMMAND_REPEAT_INTERVAL)
        };
        if self.pending.as_ref().is_some_and(is_lost) {
            self.give_up(
                uplink,
                "device_silent",
                "the device has not answered for 3 s: whether it has executed the command is unknown",
            );
        }
        if self.pending.is_none() {
            self.pending = self.next(instances, uplink);
        }
        let pending = self.pending.as_mut()?;
        match pending.said {
            Some(said) if now.saturating_duration_since(said) < COMMAND_REPEAT_INTERVAL => return None,
            Some(_) => pending.repetitions += 1,
            None => {}
        }
        pending.said = Some(now);
        Some(pending.message)
    }

    /// Takes the next command that a device understands. Refuses others.
    fn next(&mut self, instances: &[AnnouncedInstance], uplink: &mut dyn Uplink) -> Option<Pending> {
        for _ in 0..MAX_WAITING_COMMANDS {
            let command = uplink.next_command()?;
            match encoded(&command.command) {
                // A device whose instances have changed since the DAC has sent it.
                Ok(_) if command.instance >= instances.len() => {
                    let failure =
                        Failure::new("unknown_instance", "the device does not have this instance any more");
                    uplink.answer(command, Outcome::Failed(failure));
                }
                Ok((number, argument)) => {
                    self.last_id = self.last_id.wrapping_add(1);
                    let (id, instance) = (self.last_id, command.instance as u8);
                    tracing::info!(instance = %instances[command.instance].name, command = %command.command, "command");
                    let message = ToDevice::Command { id, instance, command: number, argument };
                    return Some(Pending { id, command, message, said: None, repetitions: 0 });
                }
                Err(failure) => uplink.answer(command, Outcome::Failed(failure)),
            }
        }
        None
    }

    /// Takes the answer of the device. One to an earlier command changes nothing.
    pub fn answered(&mut self, result: CommandResult, uplink: &mut dyn Uplink) {
        let Some(pending) = self.pending.take_if(|pending| pending.id == result.id) else { return };
        let hertz = super::hertz(result.millihertz);
        let failed = |code, message| Outcome::Failed(Failure::new(code, message));
        let outcome = match result.outcome {
            0 => Outcome::Done(InstanceState { hertz, enabled: result.enabled, recorder: None }),
            1 => failed("unknown_instance", "the device does not have this instance"),
            2 => {
                failed("not_periodic", "the application of the device decides when this probe takes a sample")
            }
            3 => failed("rate_invalid", "the device cannot take samples at this rate"),
            4 => failed(
                "unknown_command",
                "the device does not know this command: its library is of an earlier release",
            ),
            _ => failed(
                "refused",
                "the device refuses the command, for a reason that this gateway does not know",
            ),
        };
        uplink.answer(pending.command, outcome);
    }

    /// Refuses all commands.
    pub fn refuse_all(&mut self, uplink: &mut dyn Uplink, code: &str, message: &str) {
        self.give_up(uplink, code, message);
        for _ in 0..MAX_WAITING_COMMANDS {
            let Some(command) = uplink.next_command() else { return };
            uplink.answer(command, Outcome::Failed(Failure::new(code, message)));
        }
    }

    fn give_up(&mut self, uplink: &mut dyn Uplink, code: &str, message: &str) {
        if let Some(pending) = self.pending.take() {
            uplink.answer(pending.command, Outcome::Failed(Failure::new(code, message)));
        }
    }
}

/// The number of a command on the link, and its argument.
fn encoded(command: &Command) -> Result<(u8, u32), Failure> {
    match command {
        // A rate is at most 1,000 Hz.
        Command::Hertz { hertz } => Ok((1, (hertz.get() * 1_000.0).round() as u32)),
        Command::Enable => Ok((2, 0)),
        Command::Disable => Ok((3, 0)),
        Command::SampleNow => Ok((4, 0)),
        Command::Trigger => Err(Failure::new("no_recorder", "instances of a device have no flight recorder")),
        Command::Deadband { .. } => {
            Err(Failure::new("not_on_change", "the application of a device decides which changes it keeps"))
        }
        Command::Demand(_) | Command::DemandOff | Command::Reset { .. } => {
            let message = format!("{} is a command for the DAC, not for the node", command.name());
            Err(Failure::new("unknown_command", message))
        }
    }
}
