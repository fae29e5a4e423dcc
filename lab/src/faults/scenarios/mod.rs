//! The scenarios, a file for each family.

mod clocks;
mod databases;
mod disks;
mod folders;
mod kills;
mod machines;
mod network;
mod panics;
mod peers;
mod readers;
mod restarts;
mod stops;

pub use readers::{open, subscribed, websocket};

use super::world::World;

/// One scenario.
#[derive(Debug)]
pub struct Scenario {
    /// Name by which it is chosen.
    pub name: &'static str,
    /// Description of the fault.
    pub about: &'static str,
    /// Whether continuous integration runs it.
    pub is_quick: bool,
    /// Injects the fault, ends it and waits for the recovery.
    pub run: fn(&mut World) -> anyhow::Result<()>,
}

/// All families.
pub const ALL: &[&[Scenario]] = &[
    kills::SCENARIOS,
    stops::SCENARIOS,
    panics::SCENARIOS,
    restarts::SCENARIOS,
    disks::SCENARIOS,
    folders::SCENARIOS,
    network::SCENARIOS,
    machines::SCENARIOS,
    peers::SCENARIOS,
    readers::SCENARIOS,
    clocks::SCENARIOS,
    databases::SCENARIOS,
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn scenarios_have_names_of_their_own() {
        let names: Vec<_> = ALL.iter().copied().flatten().map(|scenario| scenario.name).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    }
}
