//! Commands of a viewer: parameters that it sets, and services that it calls.

use super::{
    connection::{Connection, End},
    control,
    messages::{ServerMessage, StatusLevel, write_response},
    requests::{ServiceCall, SetParameter},
};
use oasis_channel::InstanceState;
use oasis_dac::Instance;
use oasis_http::permissions::CommandFailure;
use oasis_wire::command::Command;
use serde_json::value::RawValue;

/// Most commands of a viewer that have no outcome yet.
const MAX_COMMANDS: usize = 16;

/// The request that a command was sent for.
#[derive(Debug)]
pub(super) enum Origin {
    Service(ServiceCall),
    /// The name of the parameter, and the number of the request.
    Parameter(String, Option<String>),
}

/// A command that has ended.
pub(super) type Outcome = (Origin, Result<InstanceState, CommandFailure>);

impl Connection {
    pub(super) fn send_parameters(&mut self, names: &[String], id: Option<String>) {
        let parameters = control::parameters(&self.channels, names);
        ServerMessage::ParameterValues { parameters: &parameters, id }.write(&mut self.out);
    }

    pub(super) fn set(&mut self, parameter: &SetParameter, id: Option<String>) -> Result<(), End> {
        match control::setting(&self.channels, parameter) {
            Ok((instance, command)) => {
                self.command(Origin::Parameter(parameter.name.clone(), id), &instance, command)
            }
            Err(message) => self.refuse(message),
        }
    }

    pub(super) fn call(&mut self, call: ServiceCall) -> Result<(), End> {
        match control::called(&self.channels, call.service) {
            Some((instance, command)) => self.command(Origin::Service(call), &instance, command),
            None => {
                self.fail_call(
                    call,
                    format!(
                        "there is no service {}: its instance has gone, or has no such command",
                        call.service
                    ),
                );
                Ok(())
            }
        }
    }

    fn fail_call(&mut self, ServiceCall { service, call }: ServiceCall, message: String) {
        ServerMessage::ServiceCallFailure { service_id: service, call_id: call, message }
            .write(&mut self.out);
    }

    /// Sends a command, whose permission is asked for and which is recorded like every other.
    fn command(&mut self, origin: Origin, instance: &Instance, command: Command) -> Result<(), End> {
        if self.commands.len() >= MAX_COMMANDS {
            let (node, name) = (&instance.node, &instance.name);
            let message =
                format!("{node}/{name}: {MAX_COMMANDS} commands are under way: wait for their results");
            return self.refuse(message);
        }
        let (permissions, dac, caller) =
            (self.doors.permissions.clone(), self.doors.dac.clone(), self.caller.clone());
        let target = (instance.node.to_string(), instance.name.to_string());
        self.commands.push(Box::pin(async move {
            let outcome = permissions.command(&dac, &caller, "foxglove", target, command.into()).await;
            (origin, outcome)
        }));
        Ok(())
    }

    pub(super) fn report(&mut self, (origin, outcome): Outcome) {
        match (origin, outcome) {
            (Origin::Service(ServiceCall { service, call }), Ok(state)) => {
                // Numbers and booleans always have JSON.
                let response =
                    serde_json::value::to_raw_value(&state).unwrap_or_else(|_| RawValue::NULL.to_owned());
                write_response(service, call, &response, &mut self.out);
            }
            (Origin::Service(call), Err(error)) => self.fail_call(call, error.to_string()),
            (Origin::Parameter(name, id), outcome) => {
                if let Err(error) = outcome {
                    ServerMessage::status(StatusLevel::Error, format!("{name}: {error}"))
                        .write(&mut self.out);
                }
                self.send_parameters(&[name], id);
            }
        }
    }
}
