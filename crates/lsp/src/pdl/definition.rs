//! Finds the declaration for a use, and the file for an `#include`.

use super::{declared::declarations, workspace::View};
use lsp_types::{Location, Position};
use oasis_pdl::Span;

/// Returns the declaration of the name at a position; a declaration leads to itself.
pub fn definition(view: &View<'_>, position: Position) -> Option<Location> {
    let offset = view.offset(position);
    let target = view.target(offset).or_else(|| declared_at(view, offset))?;
    view.location(target)
}

fn declared_at(view: &View<'_>, offset: usize) -> Option<Span> {
    declarations(&view.report.model).map(|(place, _)| place).find(|place| view.holds(*place, offset))
}
