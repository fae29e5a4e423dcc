//! The annotations of an archive: read and written in its catalogue.

use crate::{
    annotation::{Annotation, AnnotationError, AnnotationFilter, Note, Result, check},
    store::Store,
};
use oasis_wire::quantity::Nanos;
use std::sync::Arc;

/// The annotations of an archive. Each call blocks on the disk.
#[derive(Debug, Clone)]
pub struct Annotations(pub Arc<Store>);

impl Annotations {
    /// Adds an annotation.
    ///
    /// # Errors
    /// If it is invalid, there are too many, or the catalogue fails.
    pub fn add(&self, note: Note, who: &str, now: Nanos) -> Result<Annotation> {
        check(&note)?;
        let added = self.0.catalogue().add_annotation(note, who, now);
        self.0.lasting(added)
    }

    /// Returns up to `most` of them.
    ///
    /// # Errors
    /// If the catalogue fails.
    pub fn list(&self, filter: &AnnotationFilter, most: usize) -> Result<Vec<Annotation>> {
        self.0.catalogue().annotations(filter, most)
    }

    /// One of them.
    ///
    /// # Errors
    /// If there is none with this number, or the catalogue fails.
    pub fn get(&self, id: u64) -> Result<Annotation> {
        self.0.catalogue().annotation(id)?.ok_or(AnnotationError::Unknown(id))
    }

    /// Deletes one.
    ///
    /// # Errors
    /// If there is none with this number, or the catalogue fails.
    pub fn delete(&self, id: u64) -> Result<()> {
        let is_deleted = self.0.catalogue().delete_annotation(id)?;
        self.0.lasting(if is_deleted { Ok(()) } else { Err(AnnotationError::Unknown(id)) })
    }
}
