//! Sections of parts that a program was built without.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The section of a part that the program was built without. It may have any keys, because the program refuses it unless it is empty.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UnbuiltSection(Map<String, Value>);

impl UnbuiltSection {
    /// Returns whether the file has no setting of the part.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
