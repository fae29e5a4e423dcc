//! Control of probes: rates and enabled probes as parameters, commands without arguments as services.

use super::{
    channels::{Channels, has_topic, topic},
    messages::{Parameter, ParameterValue, Service, ServiceSchema},
    requests::SetParameter,
};
use oasis_access::{Target, Verb};
use oasis_dac::Instance;
use oasis_http::permissions::Caller;
use oasis_wire::{command::Command, quantity::Hertz};
use serde_json::Value;
use std::{collections::HashSet, sync::Arc};

/// The end of the name of a rate.
const HERTZ: &str = ".hertz";
/// The end of the name of what says whether a probe takes samples.
const ENABLED: &str = ".enabled";
/// The type of all services.
const SERVICE_TYPE: &str = "oasis/Command";
const NOTHING: ServiceSchema = ServiceSchema {
    encoding: "json",
    schema_name: SERVICE_TYPE,
    schema_encoding: "jsonschema",
    schema: r#"{"type":"object","properties":{}}"#,
};

/// A command without arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ServiceCommand {
    SampleNow,
    Trigger,
}

impl ServiceCommand {
    const ALL: [Self; 2] = [Self::SampleNow, Self::Trigger];

    fn command(self) -> Command {
        match self {
            Self::SampleNow => Command::SampleNow,
            Self::Trigger => Command::Trigger,
        }
    }

    /// Whether the probe can do it.
    fn is_possible(self, instance: &Instance) -> bool {
        self == Self::SampleNow || instance.state().recorder.is_some()
    }

    /// The number of the service of a topic; none of topics whose number is too large.
    fn id(self, topic: u32) -> Option<u32> {
        topic.checked_mul(2)?.checked_add(u32::from(self == Self::Trigger))
    }
}

/// Returns the services of an instance that the caller may call.
pub fn services(instance: &Instance, caller: &Caller) -> Vec<Service> {
    let of = |kind: ServiceCommand| {
        let target = Target::Instance { node: &instance.node, instance: &instance.name };
        let command = kind.command();
        let is_offered = kind.is_possible(instance) && caller.may(Verb::of(&command), target);
        let id = kind.id(instance.topic.0).filter(|_| is_offered)?;
        let name = format!("{}/{}", topic(instance), command.name());
        Some(Service { id, name, service_type: SERVICE_TYPE, request: NOTHING, response: NOTHING })
    };
    ServiceCommand::ALL.into_iter().filter_map(of).collect()
}

/// Returns the numbers of all services that a topic may have.
pub fn service_ids(topic: u32) -> impl Iterator<Item = u32> {
    ServiceCommand::ALL.into_iter().filter_map(move |kind| kind.id(topic))
}

/// Returns the instance and the command of a service.
pub fn called(channels: &Channels, service: u32) -> Option<(Arc<Instance>, Command)> {
    let instance = channels.get(service / 2)?;
    let kind = ServiceCommand::ALL.into_iter().find(|kind| kind.id(service / 2) == Some(service))?;
    Some((instance.clone(), kind.command()))
}

/// Returns the parameters with these names; all if there are none.
pub fn parameters(channels: &Channels, names: &[String]) -> Vec<Parameter> {
    let wanted: HashSet<&str> = names.iter().map(String::as_str).collect();
    let is_wanted = |parameter: &Parameter| wanted.is_empty() || wanted.contains(&*parameter.name);
    channels.instances().flat_map(|instance| of_instance(instance)).filter(is_wanted).collect()
}

fn of_instance(instance: &Instance) -> Vec<Parameter> {
    let (state, topic) = (instance.state(), topic(instance));
    let enabled = Parameter {
        name: format!("{topic}{ENABLED}"),
        value: Some(ParameterValue::Boolean(state.enabled)),
        number_type: None,
    };
    let hertz = state.hertz.map(|hertz| Parameter {
        name: format!("{topic}{HERTZ}"),
        value: Some(ParameterValue::Number(hertz.get())),
        number_type: Some("float64"),
    });
    hertz.into_iter().chain([enabled]).collect()
}

/// Returns the instance and the command that set a parameter.
///
/// # Errors
/// A message for people if there is no such parameter, or it cannot have the value.
pub fn setting(channels: &Channels, parameter: &SetParameter) -> Result<(Arc<Instance>, Command), String> {
    let SetParameter { name, value } = parameter;
    let unknown = || format!("there is no parameter {name:?}");
    let (owner, is_rate) = match (name.strip_suffix(HERTZ), name.strip_suffix(ENABLED)) {
        (Some(owner), _) => (owner, true),
        (None, Some(owner)) => (owner, false),
        (None, None) => return Err(unknown()),
    };
    let instance = channels.instances().find(|instance| has_topic(instance, owner)).ok_or_else(unknown)?;
    let command = match value {
        Value::Bool(true) if !is_rate => Command::Enable,
        Value::Bool(false) if !is_rate => Command::Disable,
        Value::Number(number) if is_rate => {
            let hertz = number.as_f64().map(Hertz::new);
            let hertz = hertz.ok_or_else(unknown)?.map_err(|error| format!("{name}: {error}"))?;
            Command::Hertz { hertz }
        }
        _ if is_rate => return Err(format!("{name} must be a number of hertz, not {value}")),
        _ => return Err(format!("{name} must be true or false, not {value}")),
    };
    Ok((instance.clone(), command))
}
