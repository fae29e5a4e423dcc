//! Imports test runs, annotations and facts about nodes.

use super::{Import, ImportError};
use oasis_store::{
    History,
    annotation::{self, AnnotationError, AnnotationFilter, Note},
    catalogue::Catalogue,
    clock::now,
    test_run::{Description, LONGEST_NAME, MAX_TEST_RUNS, TestRun, TestRunError, TestRunFilter},
};
use oasis_wire::quantity::Nanos;
use std::{
    collections::BTreeSet,
    fmt,
    path::{Path, PathBuf},
};

/// Annotations read at once.
const READ_CHUNK_NOTES: usize = 1_000;

/// An archive whose test runs, annotations and nodes are part of an import.
pub(super) struct Source {
    archive: PathBuf,
    prefix: String,
    name: Box<dyn Fn(&str) -> String + Send>,
}

impl fmt::Debug for Source {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Source").field("archive", &self.archive).finish_non_exhaustive()
    }
}

impl Import {
    /// Adds the test runs, annotations and facts about nodes of an archive whose segment files were all added. [`Import::finish`] reads them. `prefix` goes
    /// before the name of a test run that exists here; `name` is that of [`Import::add_segment_file`]. Existing entries stay unchanged.
    pub fn add_notes(
        &mut self,
        archive: &Path,
        prefix: &str,
        name: impl Fn(&str) -> String + Send + 'static,
    ) {
        self.notes.push(Source {
            archive: archive.to_owned(),
            prefix: prefix.to_owned(),
            name: Box::new(name),
        });
    }

    /// Lists what an archive has besides samples.
    pub(super) fn list_notes(
        &mut self,
        source: &Source,
        catalogue: &mut Catalogue,
    ) -> Result<(), ImportError> {
        let Source { archive, prefix, name } = source;
        let history = History::open(archive)?;
        let runs = history.0.catalogue().test_runs(&TestRunFilter::default(), MAX_TEST_RUNS as usize)?;
        let end = history.reaches()?.values().map(|(_, end)| *end).max().unwrap_or_default();
        for run in runs.into_iter().rev() {
            self.add_test_run(run, prefix, Nanos(end), catalogue)?;
        }
        self.add_annotations(&history, name, catalogue)?;
        let own: BTreeSet<_> = self.instances.keys().map(|(node, _)| node.to_string()).collect();
        for mut node in history.0.catalogue().nodes()? {
            node.name = name(&node.name);
            if own.contains(&node.name) {
                catalogue.add_stored_node(&node)?;
            }
        }
        Ok(())
    }

    /// A running test run ends with the recording.
    fn add_test_run(
        &mut self,
        run: TestRun,
        prefix: &str,
        end: Nanos,
        catalogue: &mut Catalogue,
    ) -> Result<(), ImportError> {
        let names = [run.name.clone(), format!("{prefix}:{}", run.name)];
        let mut free = None;
        for name in names {
            let filter = TestRunFilter { name: Some(name.clone()), ..TestRunFilter::default() };
            match catalogue.test_runs(&filter, 1)?.first() {
                Some(known) if known.started == run.started => return Ok(()),
                Some(_) => {}
                None if free.is_none() && name.len() <= LONGEST_NAME => free = Some(name),
                None => {}
            }
        }
        let Some(name) = free else {
            self.imported.notes_left_out += 1;
            return Ok(());
        };
        let (who, started) = (run.who.clone(), run.started);
        // A pin keeps files by time: one that reached into the future would keep all new files.
        let stopped = run.stopped.unwrap_or(end).min(now()).max(started);
        let mut description = Description { name, ..run.into() };
        if description.check().is_err() {
            self.imported.notes_left_out += 1;
            return Ok(());
        }
        match catalogue.add_test_run(&description, &who, started) {
            Ok(run) => catalogue.stop_test_run(run.id, stopped)?,
            Err(TestRunError::TooMany) => {
                self.imported.notes_left_out += 1;
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        }
        self.imported.test_runs += 1;
        Ok(())
    }

    fn add_annotations(
        &mut self,
        history: &History,
        name: impl Fn(&str) -> String,
        catalogue: &mut Catalogue,
    ) -> Result<(), ImportError> {
        let mut filter = AnnotationFilter::default();
        loop {
            let some = history.0.catalogue().annotations(&filter, READ_CHUNK_NOTES)?;
            let Some(last) = some.last() else { return Ok(()) };
            filter.after = Some((last.note.time, last.id));
            for annotation in some {
                let mut note = annotation.note;
                note.targets.iter_mut().for_each(|target| target.node = name(&target.node));
                self.add_annotation(note, &annotation.who, annotation.written, catalogue)?;
            }
        }
    }

    fn add_annotation(
        &mut self,
        note: Note,
        who: &str,
        written: Nanos,
        catalogue: &mut Catalogue,
    ) -> Result<(), ImportError> {
        if annotation::check(&note).is_err() {
            self.imported.notes_left_out += 1;
            return Ok(());
        }
        if catalogue.has_annotation(&note)? {
            return Ok(());
        }
        match catalogue.add_annotation(note, who, written) {
            Ok(_) => self.imported.annotations += 1,
            Err(AnnotationError::TooMany) => self.imported.notes_left_out += 1,
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }
}
