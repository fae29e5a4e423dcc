//! The format of 2012: a client without a subprotocol receives one EISA packet in each binary frame and nothing else.
//!
//! They send commands of 256 bytes; nodes and instances go by their names. A schema, which has no packet, comes as one text frame.

use super::{
    client::EisaClient,
    connection::{Connection, Protocol},
    end::End,
    shard::Shard,
};
use oasis_access::Verb;
use oasis_dac::{Delivery, Instance, Options, PeerLine, StartAt};
use oasis_websocket::Opcode;
use oasis_wire::{command::Command, eisa::ClientCommand};
use std::sync::Arc;

/// Commands under way; a client of 2012 gets no answers, so more than these are dropped and counted.
const MAX_COMMANDS: u32 = 64;

fn client(connection: &mut Connection) -> Option<&mut EisaClient> {
    match &mut connection.protocol {
        Protocol::Eisa(client) => Some(client),
        _ => None,
    }
}

impl Shard {
    /// Takes a binary message.
    pub(super) fn eisa_command(&mut self, key: usize, bytes: &[u8]) -> Result<(), End> {
        match ClientCommand::decode(bytes).map_err(|error| End::Command(error.to_string()))? {
            ClientCommand::Register { node, instance } => self.register(key, &node, &instance),
            ClientCommand::Unregister { node, instance } => {
                if let Some(found) = self.around.dac.registry.find(&node, &instance) {
                    self.unsubscribe(key, found.topic);
                }
            }
            ClientCommand::Hertz { node, instance, hertz } => match hertz.parse() {
                Ok(hertz) => self.change_rate(key, (node, instance), Command::Hertz { hertz }),
                Err(_) => self.unanswerable(key, "hertz_out_of_range"),
            },
            ClientCommand::Schema { node, instance } => {
                let Some(found) = self.readable(key, &node, &instance) else { return Ok(()) };
                // A schema arrives as JSON, and is sent as JSON.
                let json = serde_json::to_vec(&*found.probe_type).unwrap_or_default();
                if let Some(connection) = self.connections.get_mut(key) {
                    connection.send(Opcode::Text, &json)?;
                }
            }
        }
        Ok(())
    }

    fn register(&mut self, key: usize, node: &str, instance: &str) {
        let Some(found) = self.readable(key, node, instance) else { return };
        let limit = self.around.config.max_subscriptions;
        if self.connections.get(key).is_some_and(|connection| connection.subscriptions.len() >= limit) {
            return self.unanswerable(key, "too_many_subscriptions");
        }
        if !self.reads(key, found.topic) {
            self.subscribe(key, found, StartAt::Now, (Options::default(), Delivery::Every, false), None);
        }
    }

    /// Returns an instance that the client may read.
    fn readable(&self, key: usize, node: &str, instance: &str) -> Option<Arc<Instance>> {
        let connection = self.connections.get(key)?;
        if let Err(refusal) = connection.caller.authorize_instance(Verb::ReadLive, node, instance) {
            self.unanswerable(key, refusal.code());
            return None;
        }
        let found = self.around.dac.registry.find(node, instance);
        if found.is_none() {
            self.unanswerable(key, "unknown_instance");
        }
        found
    }

    fn change_rate(&mut self, key: usize, target: (String, String), wish: Command) {
        let Some(client) = self.connections.get_mut(key).and_then(client) else { return };
        if client.commands >= MAX_COMMANDS {
            return self.unanswerable(key, "busy");
        }
        client.commands += 1;
        self.send_command(key, 0, "websocket of 2012", target, wish.into());
    }

    /// The format has no errors: the client sees nothing happen, the operator sees a counter.
    fn unanswerable(&self, key: usize, word: &str) {
        self.around.admission.count_refused(word);
        let Some(left_out) = self.around.admission.may_log(PeerLine::Refused) else { return };
        let peer = self.connections.get(key).map(|connection| connection.caller.peer());
        tracing::info!(?peer, word, others = left_out.others(), "a client of 2012 asked for what cannot be");
    }
}
