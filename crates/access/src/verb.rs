//! Verbs: what can be permitted.

use oasis_wire::command::Command;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// Declares the verbs in the order of the documentation: variant, word, what it permits.
macro_rules! verbs {
    ($($verb:ident $word:literal $permits:literal,)*) => {
        /// One kind of action.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Verb {
            $(#[doc = $permits] $verb,)*
        }

        impl Verb {
            /// All verbs, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$verb),*];

            /// Returns the word in rules and in the audit log.
            pub fn word(self) -> &'static str {
                match self { $(Self::$verb => $word),* }
            }

            /// Returns what it permits, for people.
            pub fn permits(self) -> &'static str {
                match self { $(Self::$verb => $permits),* }
            }
        }
    };
}

verbs! {
    ReadLive "read-live" "Read samples as they arrive, and see names, types and states",
    ReadPast "read-past" "Read samples of the past: topic log, archive, SQL, replay",
    Hertz "command:hertz" "Set the rate of a probe",
    Enable "command:enable" "Resume a probe",
    Disable "command:disable" "Stop a probe",
    SampleNow "command:sample-now" "Take one sample now",
    Trigger "command:trigger" "Make a flight recorder send its samples",
    Deadband "command:deadband" "Set the deadband of a metric",
    Demand "command:demand" "Let the rate follow the readers",
    DemandOff "command:demand-off" "Keep the rate, regardless of readers",
    Reset "command:reset" "Return settings to what the program has declared, and forget what is kept",
    Runs "runs" "Start, stop, change and delete test runs",
    Annotations "annotations" "Add and delete annotations",
    Alarms "alarms" "Acknowledge, shelve and suppress alarms, and take them out of service",
    Labels "labels" "Set labels of nodes and instances",
    Layouts "layouts" "Save and delete layouts of the page",
    Write "write" "Send samples over HTTP, such as line protocol",
    Export "export" "Export samples to files",
    Sql "sql" "Send SQL; its tables contain what read-past permits",
    Rules "rules" "Change rules that watch samples",
    Eisa "eisa" "Use the protocol of 2012",
    Enroll "enroll" "Enroll a node: get a certificate of its name",
    Register "register" "List a DAC in the TEM under its name",
    Follow "follow" "Copy the accounts: users with hashes of passwords, tokens, roles and nodes",
    Administration "administration" "Accounts, tokens, roles, handlers, shards, retention; forget nodes and instances; import recordings",
}

impl Verb {
    /// Returns the verb of a command.
    pub fn of(command: &Command) -> Self {
        match command {
            Command::Hertz { .. } => Self::Hertz,
            Command::Enable => Self::Enable,
            Command::Disable => Self::Disable,
            Command::SampleNow => Self::SampleNow,
            Command::Trigger => Self::Trigger,
            Command::Deadband { .. } => Self::Deadband,
            Command::Demand(_) => Self::Demand,
            Command::DemandOff => Self::DemandOff,
            Command::Reset { .. } => Self::Reset,
        }
    }

    /// Returns the verb of a command by the name that the API and the WebSocket use, such as `sample-now`.
    pub fn of_command(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|verb| verb.word().strip_prefix("command:") == Some(name))
    }
}

/// A set of verbs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct VerbSet(u32);

impl VerbSet {
    /// All verbs.
    pub const ALL: Self = Self(u32::MAX);
    /// The verbs that only read.
    pub const READ_VERBS: Self = Self::of(&[Verb::ReadLive, Verb::ReadPast]);

    /// Returns the set of some verbs.
    pub const fn of(verbs: &[Verb]) -> Self {
        let (mut bits, mut at) = (0, 0);
        while at < verbs.len() {
            bits |= 1 << verbs[at] as u8;
            at += 1;
        }
        Self(bits)
    }

    /// Whether the verb is in the set.
    pub const fn contains(self, verb: Verb) -> bool {
        self.0 & (1 << verb as u8) != 0
    }

    /// Returns the verbs that are in one of both.
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the verbs that are in both.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns the verbs of a word: a verb, the group `read` or `command`, or `*`.
    fn of_word(word: &str) -> Option<Self> {
        match word {
            "*" => return Some(Self::ALL),
            "read" => return Some(Self::READ_VERBS),
            _ => {}
        }
        let named =
            |verb: &&Verb| verb.word() == word || (word == "command" && verb.word().starts_with("command:"));
        let verbs =
            Verb::ALL.iter().filter(named).fold(Self::default(), |set, verb| set.or(Self::of(&[*verb])));
        (verbs != Self::default()).then_some(verbs)
    }
}

/// The verbs of a rule as they were written. A group gains verbs with a later version; a list of verbs does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verbs {
    words: Vec<String>,
    set: VerbSet,
}

/// A word that names no verb, or too many words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VerbError {
    /// The word is unknown.
    #[error("{0:?} is no verb: write one of {verbs}, or read, command, *", verbs = all_words())]
    Unknown(String),
    /// No word, or more than there are.
    #[error("a rule has 1 to {most} verbs, not {0}", most = Verbs::MAX_VERBS)]
    Count(usize),
}

fn all_words() -> String {
    Verb::ALL.iter().map(|verb| verb.word()).collect::<Vec<_>>().join(", ")
}

impl Verbs {
    const MAX_VERBS: usize = 32;

    /// Parses words.
    ///
    /// # Errors
    /// If a word names no verb, or there are none or too many.
    pub fn parse<'a>(words: impl IntoIterator<Item = &'a str>) -> Result<Self, VerbError> {
        let words: Vec<String> = words.into_iter().take(Self::MAX_VERBS + 1).map(str::to_owned).collect();
        if !(1..=Self::MAX_VERBS).contains(&words.len()) {
            return Err(VerbError::Count(words.len()));
        }
        let mut set = VerbSet::default();
        for word in &words {
            set = set.or(VerbSet::of_word(word).ok_or_else(|| VerbError::Unknown(shortened(word)))?);
        }
        Ok(Self { words, set })
    }

    /// Returns the words.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Returns the verbs.
    pub fn set(&self) -> VerbSet {
        self.set
    }
}

/// At most 40 characters of a text from outside.
fn shortened(text: &str) -> String {
    text.chars().take(40).collect()
}

impl Serialize for Verbs {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.words.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Verbs {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let words = Vec::<String>::deserialize(from)?;
        Self::parse(words.iter().map(String::as_str)).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_sets_of_verbs() {
        let set = |words: &[&str]| Verbs::parse(words.iter().copied()).map(|verbs| verbs.set());
        assert_eq!(set(&["read"]), Ok(VerbSet::of(&[Verb::ReadLive, Verb::ReadPast])));
        let commands = set(&["command"]).unwrap();
        assert!(commands.contains(Verb::Hertz) && commands.contains(Verb::DemandOff));
        assert!(!commands.contains(Verb::ReadLive) && !commands.contains(Verb::Administration));
        assert!(Verb::ALL.iter().all(|verb| set(&["*"]).unwrap().contains(*verb)));
        assert!(Verb::ALL.iter().all(|verb| set(&[verb.word()]) == Ok(VerbSet::of(&[*verb]))));
        assert_eq!(set(&["reed"]), Err(VerbError::Unknown("reed".into())));
        assert_eq!(set(&[""]), Err(VerbError::Unknown(String::new())));
        assert_eq!(set(&[]), Err(VerbError::Count(0)));
    }

    #[test]
    fn each_command_of_a_client_has_a_verb_of_its_name() {
        for (text, name) in [
            (r#"{"command":"hertz","hertz":1}"#, "hertz"),
            (r#"{"command":"enable"}"#, "enable"),
            (r#"{"command":"disable"}"#, "disable"),
            (r#"{"command":"sample-now"}"#, "sample-now"),
            (r#"{"command":"trigger"}"#, "trigger"),
            (r#"{"command":"deadband","metric":"x"}"#, "deadband"),
            (r#"{"command":"demand","min":1,"max":2}"#, "demand"),
            (r#"{"command":"demand-off"}"#, "demand-off"),
            (r#"{"command":"reset"}"#, "reset"),
        ] {
            let request: Command = serde_json::from_str(text).unwrap();
            assert_eq!(Verb::of_command(name), Some(Verb::of(&request)), "{name}");
        }
        assert_eq!(Verb::of_command("administration"), None);
    }
}
