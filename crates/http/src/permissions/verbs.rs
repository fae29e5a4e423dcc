//! Verbs of which one is enough.

use oasis_access::Verb;

/// The verbs that only read.
pub const READ_VERBS: &[Verb] = &[Verb::ReadLive, Verb::ReadPast];

/// The verbs of all commands.
pub const COMMANDS: &[Verb] = &[
    Verb::Hertz,
    Verb::Enable,
    Verb::Disable,
    Verb::SampleNow,
    Verb::Trigger,
    Verb::Deadband,
    Verb::Demand,
    Verb::DemandOff,
    Verb::Reset,
];
