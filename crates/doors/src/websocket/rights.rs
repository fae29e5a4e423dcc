//! Rights of open WebSockets: checked once a second, so that a change reaches each within 5 s.

use super::{
    client::DeltaReader,
    connection::{Connection, Protocol, Subscription},
    end::End,
    fleet_subscription::FleetSubscription,
    handshake::may_speak,
    messages::Answer,
    shard::Shard,
};
use oasis_access::{Target, Verb};
use oasis_dac::{Instance, RegistryCursor};
use oasis_http::permissions::{Caller, Permissions};
use oasis_wire::quantity::TopicId;

/// Why a subscription ends whose reader has no right to it any more.
const CAUSE: &str = "access_ended";

impl Subscription {
    /// Whether a caller may read on.
    fn is_permitted(&self, caller: &Caller, instance: &Instance) -> bool {
        let target = Target::Instance { node: &instance.node, instance: &instance.name };
        let reads_past = caller.may(Verb::ReadPast, target);
        let reads_on = caller.may(Verb::ReadLive, target) || (reads_past && self.until().is_some());
        reads_on && (reads_past || !self.is_in_the_past())
    }
}

impl Shard {
    /// Checks the rights of all clients: a few comparisons each, if nothing has changed.
    pub(super) fn check_rights(&mut self) {
        let permissions = self.around.permissions.clone();
        let mut ended = Vec::new();
        let mut changed = Vec::new();
        for (key, connection) in &mut self.connections {
            match present(connection, &permissions) {
                Ok(true) => changed.push(key),
                Ok(false) => {}
                Err(reason) => ended.push((key, reason)),
            }
        }
        ended.into_iter().for_each(|(key, reason)| self.end(key, &End::Access(reason)));
        for key in changed {
            let settled = self.end_forbidden(key);
            self.settle(key, settled);
            self.watch_with_other_rights(key);
        }
    }

    /// Ends the subscriptions that a client may not read any more.
    fn end_forbidden(&mut self, key: usize) -> Result<(), End> {
        let Some(connection) = self.connections.get(key) else { return Ok(()) };
        let lost: Vec<TopicId> = connection
            .subscriptions
            .iter()
            .filter_map(|subscription| {
                let instance = &self.topics.get(subscription.topic)?.instance;
                (!subscription.is_permitted(&connection.caller, instance)).then_some(instance.topic)
            })
            .collect();
        lost.into_iter().try_for_each(|topic| self.finish(key, topic, CAUSE))
    }

    /// Begins again with what the client sees of the registry.
    fn watch_with_other_rights(&mut self, key: usize) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        let sees_everything = connection.caller.sees_everything();
        let Protocol::Native(client) = &mut connection.protocol else { return };
        if let Some(reader) = &mut client.deltas {
            **reader = DeltaReader::new(RegistryCursor::default());
            self.deltas.is_due = true;
        }
        if client.statistics.is_some() {
            client.statistics = Some(Default::default());
            (self.statistics.is_due, self.statistics.is_busy) = (true, true);
        }
        client.fleets.iter_mut().for_each(FleetSubscription::begin_again);
        if client.watches && !sees_everything {
            (client.watches, client.is_behind) = (false, false);
            let said = self.answer(key, &whole_picture_refused(None));
            self.settle(key, said);
        }
    }
}

/// Brings the rights of a client up to date. Whether they may have changed.
fn present(connection: &mut Connection, permissions: &Permissions) -> Result<bool, String> {
    let is_changed = connection.caller.refresh(permissions).map_err(|ended| ended.to_string())?;
    if is_changed {
        may_speak(&connection.caller, &connection.protocol).map_err(|refusal| refusal.to_string())?;
    }
    Ok(is_changed)
}

/// The answer to a client that wants all of the registry and may see a part.
pub(super) fn whole_picture_refused(id: Option<i64>) -> Answer {
    let message = "whole pictures of the registry need the permission to read everything: watch with deltas";
    Answer::Error { id, code: "forbidden".into(), message: message.into() }
}
