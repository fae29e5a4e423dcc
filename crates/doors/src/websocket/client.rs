//! State of a client besides its connection, for each protocol.

use oasis_channel::InstanceState;
use oasis_dac::CommandError;

/// State of a native client.
#[derive(Debug, Default)]
pub struct NativeClient {
    /// Whether it is notified of changes of the registry.
    pub watches: bool,
    /// Whether the registry has changed since its last picture.
    pub is_behind: bool,
    /// Requests that could not be understood.
    pub nonsense: u32,
    /// Commands under way.
    pub commands: u32,
}

/// State of a client of 2012.
#[derive(Debug, Default)]
pub struct EisaClient {
    /// Commands under way.
    pub commands: u32,
}

impl EisaClient {
    /// The protocol has no error message, so only the log reports it.
    pub fn command_ended(&mut self, outcome: &Result<InstanceState, CommandError>) {
        self.commands -= 1;
        if let Err(error) = outcome {
            tracing::info!(%error, "a command of a client of 2012 failed");
        }
    }
}
