//! Commands that handlers pass on for programs of other protocols: permitted and recorded like all others.

use oasis_dac::Dac;
use oasis_handler::{CommandAnswer, CommandRefusal, ProbeCommands, TokenCommand};
use oasis_http::permissions::Permissions;
use serde_json::json;
use std::sync::Arc;
use tokio::runtime::Handle;

/// Sends commands on the runtime of the DAC.
pub struct HandlerCommands {
    dac: Arc<Dac>,
    permissions: Arc<Permissions>,
    runtime: Handle,
}

impl HandlerCommands {
    /// Called on the runtime that sends the commands.
    pub fn new(dac: &Arc<Dac>, permissions: &Arc<Permissions>) -> Self {
        Self { dac: dac.clone(), permissions: permissions.clone(), runtime: Handle::current() }
    }
}

impl ProbeCommands for HandlerCommands {
    fn send(&self, command: TokenCommand, answer: CommandAnswer) {
        let (dac, permissions) = (self.dac.clone(), self.permissions.clone());
        self.runtime.spawn(async move {
            let TokenCommand { token, door, peer, node, instance, request } = command;
            let outcome = match permissions.with_token(&token, peer) {
                Ok(caller) => {
                    let sent = permissions.command(&dac, &caller, door, (node, instance), request).await;
                    let refusal = |code: &str, message| CommandRefusal { code: code.into(), message };
                    sent.map(|state| json!(state)).map_err(|error| refusal(error.code(), error.to_string()))
                }
                Err(ended) => Err(CommandRefusal { code: "bad_token".into(), message: ended.to_string() }),
            };
            answer(outcome);
        });
    }
}
