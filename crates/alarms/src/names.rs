//! Words of the language of rules in JSON and in the database.

use oasis_rules::{Standing, program::Severity};

/// All states of an alarm.
pub const STANDINGS: [Standing; 3] = [Standing::Normal, Standing::Active, Standing::Latched];

/// The state with this name.
pub fn standing(name: &str) -> Option<Standing> {
    STANDINGS.into_iter().find(|standing| standing.name() == name)
}

/// The severity with this name.
pub fn severity(name: &str) -> Option<Severity> {
    Severity::ALL.into_iter().find_map(|(known, severity)| (known == name).then_some(severity))
}

/// A state as its name, for serde.
pub(crate) mod as_standing {
    use oasis_rules::Standing;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(standing: &Standing, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(standing.name())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Standing, D::Error> {
        let name = String::deserialize(from)?;
        super::standing(&name).ok_or_else(|| D::Error::custom(format!("{name:?} is no state of an alarm")))
    }
}

/// A severity as its name, for serde.
pub(crate) mod as_severity {
    use oasis_rules::program::Severity;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(severity: &Severity, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(severity.name())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Severity, D::Error> {
        let name = String::deserialize(from)?;
        super::severity(&name).ok_or_else(|| D::Error::custom(format!("{name:?} is no severity")))
    }
}
