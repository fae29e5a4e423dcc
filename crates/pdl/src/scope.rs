//! Scoped names: joins, splits and looks them up.

use crate::ast;
use std::collections::HashMap;

/// Looks up a name from the innermost scope outwards.
pub fn find<T>(table: &HashMap<String, T>, mut scope: &str, wanted: &str) -> Option<String> {
    loop {
        let candidate = join(scope, wanted);
        if table.contains_key(&candidate) {
            return Some(candidate);
        }
        if scope.is_empty() {
            return None;
        }
        scope = scope.rsplit_once("::").map_or("", |(outer, _)| outer);
    }
}

/// The name after the last `::`.
pub fn last(scoped: &str) -> &str {
    scoped.rsplit("::").next().unwrap_or_default()
}

/// A name inside of a scope; the root has none.
pub fn join(scope: &str, name: &str) -> String {
    if scope.is_empty() { name.into() } else { format!("{scope}::{name}") }
}

/// A path without its leading `::`.
pub fn spelled(path: &ast::Path) -> String {
    path.names.iter().map(|name| name.text.as_str()).collect::<Vec<_>>().join("::")
}
