//! The gaps of an export, in the description at the end of a Parquet file.

use crate::{
    Gap,
    input::{Lost, bounds::MAX_LOST, names::without_controls},
};
use oasis_wire::loss::Cause;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The key of the description.
pub const KEY: &str = "oasis.gaps";

/// A gap as JSON. One without numbers only counts.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WrittenGap {
    node: String,
    instance: String,
    run: Uuid,
    samples: u64,
    #[serde(deserialize_with = "oasis_wire::loss::lenient")]
    cause: Cause,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from_sequence: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    to_sequence: Option<u64>,
}

impl WrittenGap {
    pub fn new(gap: &Gap<'_>) -> Self {
        Self {
            node: gap.node.into(),
            instance: gap.instance.into(),
            run: gap.run,
            samples: gap.count,
            cause: gap.cause,
            from_sequence: gap.numbers.as_ref().map(|numbers| *numbers.start()),
            to_sequence: gap.numbers.as_ref().map(|numbers| *numbers.end()),
        }
    }

    fn into_lost(self) -> Option<Lost> {
        let numbers = self.from_sequence?..=self.to_sequence?;
        let (node, instance) = (Some(without_controls(&self.node)), without_controls(&self.instance));
        (!numbers.is_empty()).then_some(Lost { node, instance, run: self.run, numbers, cause: self.cause })
    }
}

/// Parses the gaps of a file; none if the text is no list of gaps.
pub fn parse(text: &str) -> Vec<Lost> {
    let gaps: Vec<WrittenGap> = serde_json::from_str(text).unwrap_or_default();
    gaps.into_iter().filter_map(WrittenGap::into_lost).take(MAX_LOST).collect()
}
