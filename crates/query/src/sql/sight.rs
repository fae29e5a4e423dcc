//! Data that the author of a query may read.

use std::{fmt::Debug, sync::Arc};

/// Decides which rows and tables there are for the author of a query. What it does not see is not there: neither rows nor tables, names or counts.
pub trait Sight: Debug + Send + Sync {
    /// Whether the past of an instance is visible.
    fn instance(&self, node: &str, instance: &str) -> bool;
    /// Whether all of a node is visible, whichever instances it has.
    fn node(&self, node: &str) -> bool;
    /// Whether anything is visible: then also what concerns no instance, such as test runs.
    fn anything(&self) -> bool;
    /// Returns the visible part of an author.
    fn author<'a>(&self, author: &'a str) -> &'a str;
}

/// Sees everything.
#[derive(Debug)]
struct Everything;

impl Sight for Everything {
    fn instance(&self, _: &str, _: &str) -> bool {
        true
    }

    fn node(&self, _: &str) -> bool {
        true
    }

    fn anything(&self) -> bool {
        true
    }

    fn author<'a>(&self, author: &'a str) -> &'a str {
        author
    }
}

/// Returns what whoever may read the folder itself sees.
pub fn everything() -> Arc<dyn Sight> {
    Arc::new(Everything)
}
