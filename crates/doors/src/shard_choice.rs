//! Number of threads that write to WebSockets: a fixed one, or as many as the load needs.

use serde::{Deserialize, Serialize};
use std::{fmt, num::NonZero, str::FromStr, thread};

/// Most shards. More than this only cost memory on any machine.
pub const MAX_SHARDS: usize = 256;

/// The number of shards, as chosen by hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub enum ShardChoice {
    /// One for each core of the machine.
    OnePerCore,
    /// This many, from 1 to [`MAX_SHARDS`].
    Fixed(usize),
    /// From 1 to one for each core, as the load needs.
    Auto,
}

/// Neither a number of shards nor `auto`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the number of shards cannot be {0}: write a number from 1 to {MAX_SHARDS}, 0 for one a core, or auto"
)]
pub struct BadShardChoice(String);

/// As it is in files and requests.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged, expecting = "shards is a number from 1 to 256, 0 for one a core, or \"auto\"")]
enum Written {
    Number(u64),
    Word(String),
}

impl ShardChoice {
    /// The number of shards to begin with.
    pub fn initial(self) -> usize {
        match self {
            Self::OnePerCore => cores(),
            Self::Fixed(number) => number,
            Self::Auto => 1,
        }
    }
}

/// Cores that this process may use, at most [`MAX_SHARDS`].
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get).min(MAX_SHARDS)
}

impl TryFrom<u64> for ShardChoice {
    type Error = BadShardChoice;

    fn try_from(number: u64) -> Result<Self, BadShardChoice> {
        match usize::try_from(number) {
            Ok(0) => Ok(Self::OnePerCore),
            Ok(number) if number <= MAX_SHARDS => Ok(Self::Fixed(number)),
            _ => Err(BadShardChoice(number.to_string())),
        }
    }
}

impl FromStr for ShardChoice {
    type Err = BadShardChoice;

    fn from_str(text: &str) -> Result<Self, BadShardChoice> {
        match (text, text.parse::<u64>()) {
            ("auto", _) => Ok(Self::Auto),
            (_, Ok(number)) => number.try_into(),
            (_, Err(_)) => Err(BadShardChoice(format!("{text:?}"))),
        }
    }
}

impl TryFrom<Written> for ShardChoice {
    type Error = BadShardChoice;

    fn try_from(written: Written) -> Result<Self, BadShardChoice> {
        match written {
            Written::Number(number) => number.try_into(),
            Written::Word(word) if word == "auto" => Ok(Self::Auto),
            Written::Word(word) => Err(BadShardChoice(format!("{word:?}"))),
        }
    }
}

impl From<ShardChoice> for Written {
    fn from(choice: ShardChoice) -> Self {
        match choice {
            ShardChoice::OnePerCore => Self::Number(0),
            ShardChoice::Fixed(number) => Self::Number(number as u64),
            ShardChoice::Auto => Self::Word("auto".into()),
        }
    }
}

impl fmt::Display for ShardChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OnePerCore => write!(f, "one a core"),
            Self::Fixed(number) => write!(f, "{number}"),
            Self::Auto => write!(f, "auto"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(written: Value) -> Result<ShardChoice, String> {
        serde_json::from_value(written).map_err(|error| error.to_string())
    }

    #[test]
    fn a_choice_is_a_number_or_a_word() {
        for (written, choice) in [
            (json!(0), ShardChoice::OnePerCore),
            (json!(7), ShardChoice::Fixed(7)),
            (json!(MAX_SHARDS), ShardChoice::Fixed(MAX_SHARDS)),
            (json!("auto"), ShardChoice::Auto),
        ] {
            assert_eq!(read(written.clone()), Ok(choice));
            assert_eq!(serde_json::to_value(choice).unwrap(), written);
        }
        assert_eq!("4".parse(), Ok(ShardChoice::Fixed(4)));
        assert_eq!("auto".parse(), Ok(ShardChoice::Auto));
    }

    #[test]
    fn an_error_names_the_input_and_what_may_be_written() {
        for (written, named) in
            [(json!(257), "257"), (json!("many"), "\"many\""), (json!("4"), "\"4\""), (json!(-1), "")]
        {
            let error = read(written).unwrap_err();
            assert!(error.contains(named) && error.contains("256") && error.contains("auto"), "{error}");
        }
        for text in ["", "-1", "2.5", "257", "Auto"] {
            assert!(text.parse::<ShardChoice>().unwrap_err().to_string().contains(text), "{text}");
        }
    }
}
