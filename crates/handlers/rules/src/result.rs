//! Results of rules as the alarms keep them.

use oasis_alarms::{At, EventIdentity, EventKey, RuleEvent};
use oasis_dac::Instance;
use oasis_rules::{
    Event,
    program::{Alarm, Body, Rule},
};
use oasis_wire::quantity::Nanos;
use uuid::Uuid;

/// Age of an event's samples, in nanoseconds, from which it is too late to act on it.
const MAX_EVENT_AGE: u64 = 5_000_000_000;

/// The result of an event of an instance, with the run of its sample and its number among equals.
pub fn of_event(
    rule: &Rule,
    instance: &Instance,
    (event, run, index): (Event, Option<Uuid>, u32),
    cause: Option<String>,
    now: Nanos,
) -> RuleEvent {
    let (node, instance) = (&*instance.node, &*instance.name);
    let at = event.sequence.map_or(At::Tick(event.dac_time), At::Sequence);
    let (name, kind) = (&*rule.name, event.kind);
    let key = EventKey::new(EventIdentity { rule: name, node, instance, run, at, kind, index });
    let severity = match &rule.body {
        Body::Alarm(Alarm { severity, .. }) => Some(*severity),
        Body::Event(_) | Body::Derive(_) | Body::Check(_) => None,
    };
    RuleEvent {
        standing: event.standing,
        severity,
        is_known: event.is_known,
        value: event.value,
        limit: event.limit,
        unit: event.value.and_then(|_| rule.unit(kind)).map(str::to_owned),
        run,
        sequence: event.sequence,
        time: event.time,
        dac_time: event.dac_time,
        since: event.since,
        missing: event.missing,
        cause,
        late: now.0.saturating_sub(event.dac_time) > MAX_EVENT_AGE,
        ..RuleEvent::new(key, name, (node, instance), kind)
    }
}
